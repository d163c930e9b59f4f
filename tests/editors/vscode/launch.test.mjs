// Where the extension finds the server, with interpreters and folders of its own.
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, beforeEach, test } from 'node:test';

import { EXTENSION } from './workbench.mjs';

const { buildSync } = createRequire(join(EXTENSION, 'package.json'))('esbuild');
const base = mkdtempSync(join(tmpdir(), 'foldline-launch-'));
const bundle = join(base, 'launch.mjs');
buildSync({
  entryPoints: [join(EXTENSION, 'src/launch.ts')],
  bundle: true,
  platform: 'node',
  format: 'esm',
  outfile: bundle,
});
const { findServer, otherCommand } = await import(bundle);

let folder;
let lines;

beforeEach(() => {
  folder = mkdtempSync(join(base, 'case-'));
  lines = [];
});

after(() => rmSync(base, { recursive: true }));

test('the setting wins over everything else', async () => {
  const found = await find({
    setting: ['/opt/foldline', 'serve'],
    interpreter: python('a/python', 0),
  });
  assert.deepEqual([found.command, ...found.args], ['/opt/foldline', 'serve']);
  assert.match(found.origin, /foldline\.server\.command/);
});

test('a name in the setting is looked for on PATH, and nowhere else', async () => {
  const onPath = script('bin/foldline');
  const where = { setting: ['foldline', 'serve'], folders: [folder] };
  const found = await find({ ...where, searchPath: `.::bin:${join(folder, 'bin')}` });
  assert.equal(found.command, onPath);
  script('foldline');
  assert.equal(await find({ ...where, searchPath: '.:' }), null);
  assert.match(lines.join('\n'), /foldline\.server\.command: foldline is not on PATH/);
});

test('a relative path in the setting starts from the folder', async () => {
  const found = await find({ setting: ['./.venv/bin/foldline', 'serve'], folders: [folder] });
  assert.equal(found.command, join(folder, '.venv/bin/foldline'));
});

test('the setting leads to nothing inside a folder that is not trusted', async () => {
  const workspace = join(folder, 'workspace');
  const inside = script('workspace/.venv/bin/foldline');
  const onPath = script('bin/foldline');
  const where = { searchPath: join(folder, 'bin'), folders: [workspace] };
  for (const setting of [
    [inside, 'serve'],
    ['.venv/bin/foldline', 'serve'],
  ]) {
    assert.equal((await find({ ...where, setting, trusted: false })).command, onPath);
    assert.match(lines.join('\n'), /\.venv\/bin\/foldline is passed over.*not trusted/);
    assert.equal((await find({ ...where, setting })).command, inside);
  }
});

test('the interpreter is asked in a folder of the user', async () => {
  const asked = join(folder, 'asked');
  const interpreter = script('env/bin/python', `pwd > ${asked}`);
  await find({ interpreter, folders: [process.cwd()] });
  assert.equal(readFileSync(asked, 'utf8').trim(), realpathSync(homedir()));
});

test('the chosen interpreter comes before PATH when it holds the server', async () => {
  const interpreter = python('env/bin/python', 0);
  script('bin/foldline');
  const found = await find({ interpreter, searchPath: join(folder, 'bin') });
  assert.deepEqual(
    [found.command, ...found.args],
    [interpreter, '-P', '-m', 'foldline.agent', 'serve', '--stdio'],
  );
});

test('the environment of a trusted folder comes before the chosen interpreter', async () => {
  const inside = python('workspace/.venv/bin/python', 0);
  const interpreter = python('env/bin/python', 0);
  const where = { interpreter, folders: [join(folder, 'workspace')] };
  const found = await find(where);
  assert.deepEqual([found.command, found.args[2]], [inside, 'foldline.agent']);
  assert.match(found.origin, /the folder's environment/);
  assert.equal((await find({ ...where, trusted: false })).command, interpreter);
  assert.match(lines.join('\n'), /\.venv\/bin\/python is passed over.*not trusted/);
});

test('an environment named venv counts, and one without the server does not', async () => {
  python('workspace/.venv/bin/python', 1);
  const second = python('workspace/venv/bin/python', 0);
  assert.equal((await find({ folders: [join(folder, 'workspace')] })).command, second);
  assert.match(lines.join('\n'), /\.venv\/bin\/python has no foldline\[server\]/);
});

test('the bundled copy is the last place, in a Python that can run it', async () => {
  const bundled = script('extension/foldline_server.py');
  python('bin/python3', 1);
  const newer = python('bin/python3.12', 0);
  const searchPath = join(folder, 'bin');
  const found = await find({ bundled, searchPath });
  assert.deepEqual([found.command, ...found.args], [newer, '-P', bundled, 'serve', '--stdio']);
  assert.match(lines.join('\n'), /No foldline on PATH\n.*python3 can't run the extension's own/);
  const onPath = script('bin/foldline');
  assert.equal((await find({ bundled, searchPath })).command, onPath);
});

test('the bundled copy runs in no interpreter of a folder that is not trusted', async () => {
  const bundled = script('extension/foldline_server.py');
  const interpreter = python('workspace/.venv/bin/python', 0);
  const where = { bundled, interpreter, folders: [join(folder, 'workspace')] };
  assert.equal(await find({ ...where, trusted: false }), null);
});

test('each place that was looked at has a line in the log', async () => {
  assert.equal(await find({ folders: [join(folder, 'workspace')] }), null);
  assert.deepEqual(lines.length, 4);
  for (const [index, said] of [
    /No \.venv or venv in .*workspace/,
    /No interpreter is chosen/,
    /No foldline on PATH/,
    /brings no server/,
  ].entries()) {
    assert.match(lines[index], said);
  }
});

test("another command of the server's program keeps what comes before", async () => {
  const interpreter = python('env/bin/python', 0);
  const found = await find({ interpreter });
  assert.deepEqual(otherCommand(found, ['new', 'a.py']).args, [
    '-P',
    '-m',
    'foldline.agent',
    'new',
    'a.py',
  ]);
  assert.equal(otherCommand(await find({ setting: ['/bin/sh', 'start'] }), ['new']), null);
});

test('an interpreter without the server is passed over for PATH, and the log says so', async () => {
  const interpreter = python('env/bin/python', 1);
  const onPath = script('bin/foldline');
  const found = await find({
    interpreter,
    searchPath: `relative:${join(folder, 'none')}:${join(folder, 'bin')}`,
  });
  assert.deepEqual([found.command, ...found.args], [onPath, 'serve', '--stdio']);
  assert.match(lines.join('\n'), /env\/bin\/python has no foldline\[server\]/);
});

test('an interpreter that does not start is passed over', async () => {
  assert.equal(await find({ interpreter: join(folder, 'missing/python') }), null);
});

test('a folder on PATH that is relative to wherever we are is no place to look', async () => {
  script('bin/foldline');
  const before = process.cwd();
  process.chdir(folder);
  try {
    assert.equal(await find({ searchPath: 'bin:./bin:' }), null);
  } finally {
    process.chdir(before);
  }
});

test('what cannot be run is no server', async () => {
  chmodSync(script('bin/foldline'), 0o644);
  mkdirSync(join(folder, 'folder/foldline'), { recursive: true });
  assert.equal(
    await find({ searchPath: `${join(folder, 'bin')}:${join(folder, 'folder')}` }),
    null,
  );
});

test('nothing inside a folder that is not trusted is started', async () => {
  const workspace = join(folder, 'workspace');
  const ran = join(folder, 'ran');
  const interpreter = script('workspace/.venv/bin/python', `touch ${ran}`);
  script('workspace/bin/foldline');
  const searchPath = join(workspace, 'bin');
  assert.equal(await find({ interpreter, searchPath, folders: [workspace], trusted: false }), null);
  assert.throws(() => rmSync(ran), { code: 'ENOENT' });
  assert.match(lines.join('\n'), /\.venv\/bin\/python is passed over.*not trusted/);
  assert.equal(
    (await find({ interpreter, searchPath, folders: [workspace] })).command,
    interpreter,
  );
});

test('a link does not hide that a program is inside a folder that is not trusted', async () => {
  const workspace = join(folder, 'workspace');
  script('workspace/bin/foldline');
  symlinkSync(join(workspace, 'bin'), join(folder, 'elsewhere'));
  assert.equal(
    await find({ searchPath: join(folder, 'elsewhere'), folders: [workspace], trusted: false }),
    null,
  );
});

test('beside a folder that is not trusted a server is found', async () => {
  const onPath = script('workspace-tools/foldline');
  const found = await find({
    searchPath: dirname(onPath),
    folders: [join(folder, 'workspace')],
    trusted: false,
  });
  assert.equal(found.command, onPath);
});

function find(where) {
  const log = (line) => lines.push(line);
  return findServer({
    setting: [],
    interpreter: null,
    searchPath: '',
    folders: [],
    trusted: true,
    bundled: join(folder, 'none/foldline_server.py'),
    log,
    ...where,
  });
}

/** An interpreter whose probe for the server ends with `status`. */
function python(name, status) {
  return script(name, `exit ${status}`);
}

function script(name, command = 'exit 0') {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${command}\n`, { mode: 0o755 });
  return file;
}
