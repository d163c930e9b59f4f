// Makes code-server out of what npm unpacked; runs once after `npm ci --ignore-scripts`.
import { cpSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const modules = join(here, 'node_modules');
const vscode = join(modules, 'code-server/lib/vscode');

// VS Code looks for its modules below its own folder, in Node and in the browser.
rmSync(join(vscode, 'node_modules'), { recursive: true, force: true });
symlinkSync('../../..', join(vscode, 'node_modules'));

// Two modules of VS Code are native; these stand in for them without a compiler.
for (const shim of ['native-watchdog', 'spdlog']) {
  cpSync(join(here, 'shims', shim), join(modules, '@vscode', shim), { recursive: true });
}

// Only the built-in extensions that the tests see: the others cost start-up and noise.
const kept = new Set(['python', 'json', 'markdown-basics', 'theme-defaults', 'theme-seti']);
const extensions = join(vscode, 'extensions');
for (const entry of readdirSync(extensions, { withFileTypes: true })) {
  if (entry.isDirectory() && !kept.has(entry.name)) {
    rmSync(join(extensions, entry.name), { recursive: true, force: true });
  }
}

const ripgrep = join(modules, '@vscode/ripgrep-universal/bin');
for (const platform of readdirSync(ripgrep)) {
  if (platform !== `${process.platform}-${process.arch}`) {
    rmSync(join(ripgrep, platform), { recursive: true, force: true });
  }
}
