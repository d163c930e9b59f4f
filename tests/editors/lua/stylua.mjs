// Formats the Lua of this repository by stylua.toml, as the program StyLua does, which npm has only
// as a library. With `--check` it changes nothing, names the files that differ, and fails.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import * as stylua from '@johnnymorganz/stylua';

const ROOT = join(import.meta.dirname, '../../..');
const ENUMS = {
  indent_type: stylua.IndentType,
  quote_style: stylua.QuoteStyle,
  syntax: stylua.LuaVersion,
};

const check = process.argv.includes('--check');
let differing = 0;
for (const file of luaFiles()) {
  const text = readFileSync(join(ROOT, file), 'utf8');
  // StyLua frees the configuration that it is given.
  const verify = stylua.OutputVerification.Full;
  const formatted = stylua.formatCode(text, configuration(), undefined, verify);
  if (formatted !== text) {
    differing += 1;
    console.log(check ? `${file} isn't formatted` : `${file} formatted`);
    if (!check) {
      writeFileSync(join(ROOT, file), formatted);
    }
  }
}
process.exitCode = check && differing > 0 ? 1 : 0;

function luaFiles() {
  const ours = readdirSync(join(ROOT, 'editors/neovim'), { recursive: true });
  const tests = readdirSync(join(ROOT, 'tests/editors'));
  return [
    'release/nvim-lspconfig/lsp/foldline.lua',
    ...ours.map((name) => join('editors/neovim', name)),
    ...tests.map((name) => join('tests/editors', name)),
  ].filter((name) => name.endsWith('.lua'));
}

/** The settings of stylua.toml, of which there are only numbers and strings. */
function configuration() {
  const config = stylua.Config.new();
  for (const line of readFileSync(join(ROOT, 'stylua.toml'), 'utf8').split('\n')) {
    const [, key, word, number] = /^(\w+) = (?:"(\w+)"|(\d+))$/.exec(line) ?? [];
    const value = word === undefined ? Number(number) : ENUMS[key]?.[word];
    if (key !== undefined && key in config && value !== undefined) {
      config[key] = value;
    } else if (line !== '' && !line.startsWith('#')) {
      throw new Error(`stylua.toml: stylua.mjs doesn't know what to do with: ${line}`);
    }
  }
  return config;
}
