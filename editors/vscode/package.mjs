// Packs the extension: `npm run package`, or with `-- --bundled` with a server inside.
//
// The server's libraries are compiled for a platform, and some for a version of Python. So a bundled
// package is one for this machine's platform, with the compiled parts for each version of Python side
// by side, and brings what `uv` installs from the project and its constraints.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '../..');
const BUNDLED = join(import.meta.dirname, 'bundled');
const PYTHONS = ['3.11', '3.12', '3.13', '3.14'];
const PROGRAM = `"""Starts the language server that the extension brings."""
import os
import sys
from pathlib import Path

if sys.version_info < (3, 11):
    sys.exit("foldline needs Python 3.11 or later")
libraries = Path(__file__).parent / "libraries"
sys.path.insert(0, str(libraries))
# For ty.
os.environ["PATH"] = os.pathsep.join([str(libraries / "bin"), os.environ.get("PATH", os.defpath)])

# Fails here, rather than later, where nothing of these libraries is built for this Python.
import tree_sitter  # noqa: F401
from foldline.agent.cli import command

command()
`;
// Where a compiled part is for one platform, the package is, too.
const TARGETS = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'darwin-x64',
  'darwin-arm64': 'darwin-arm64',
  'win32-x64': 'win32-x64',
};

const isBundled = process.argv.includes('--bundled');
const pythons = option('--python')?.split(',') ?? PYTHONS;
rmSync(BUNDLED, { recursive: true, force: true });
try {
  if (isBundled) {
    bundle();
  }
  const target = isBundled ? ['--target', TARGETS[`${process.platform}-${process.arch}`]] : [];
  const out = option('--out') ?? (isBundled ? 'foldline-bundled.vsix' : 'foldline.vsix');
  run(join(import.meta.dirname, 'node_modules/.bin/vsce'), [
    'package',
    '--no-dependencies',
    '--allow-missing-repository',
    // No repository, no address to make of the guide's images.
    '--no-rewrite-relative-links',
    ...target,
    ...['--out', out],
  ]);
} finally {
  rmSync(BUNDLED, { recursive: true, force: true });
}

function bundle() {
  const libraries = join(BUNDLED, 'libraries');
  const scratch = mkdtempSync(join(tmpdir(), 'foldline-bundle-'));
  mkdirSync(libraries, { recursive: true });
  try {
    run('uv', ['build', '--quiet', '--wheel', '--out-dir', scratch], PROJECT);
    const [wheel] = readdirSync(scratch).filter((name) => name.endsWith('.whl'));
    for (const python of pythons) {
      const folder = join(scratch, python);
      run('uv', [
        ...['pip', 'install', '--quiet', '--target', folder, '--python-version', python],
        ...['--only-binary', ':all:', `${join(scratch, wheel)}[server]`],
      ]);
      // Compiled modules have their Python's version in their name, and all else is the same.
      cpSync(folder, libraries, { recursive: true });
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  // jedi, the fallback where ty doesn't start, is most of all files.
  for (const folder of ['.lock', 'jedi', 'parso']) {
    rmSync(join(libraries, folder), { recursive: true, force: true });
  }
  // Scripts of Python name the interpreter that installed them.
  for (const name of readdirSync(join(libraries, 'bin'))) {
    if (!/^ty(\.exe)?$/.test(name)) {
      rmSync(join(libraries, 'bin', name), { recursive: true });
    }
  }
  writeFileSync(join(BUNDLED, 'foldline_server.py'), PROGRAM);
}

function option(name) {
  const index = process.argv.indexOf(name);
  return index === -1 ? undefined : process.argv[index + 1];
}

function run(command, args, cwd = import.meta.dirname) {
  execFileSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' });
}
