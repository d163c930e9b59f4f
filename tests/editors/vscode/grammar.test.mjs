// The injection grammar, in VS Code's own tokenizer and grammar of Python.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { before, test } from 'node:test';

import oniguruma from 'vscode-oniguruma';
import textmate from 'vscode-textmate';

import { EXTENSION, MODULES } from './workbench.mjs';

const PYTHON = join(MODULES, 'code-server/lib/vscode/extensions/python/syntaxes');
const FILES = {
  'source.python': join(PYTHON, 'MagicPython.tmLanguage.json'),
  'source.regexp.python': join(PYTHON, 'MagicRegExp.tmLanguage.json'),
  'foldline.prompt.injection': join(EXTENSION, 'syntaxes/prompt.injection.json'),
};
const { contributes } = JSON.parse(readFileSync(join(EXTENSION, 'package.json'), 'utf8'));

let grammar;

before(async () => {
  const require = createRequire(import.meta.url);
  const wasm = readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
  await oniguruma.loadWASM(wasm);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) =>
      FILES[scope] && textmate.parseRawGrammar(readFileSync(FILES[scope], 'utf8'), FILES[scope]),
    getInjections: (scope) =>
      contributes.grammars
        .filter(({ injectTo }) => injectTo.includes(scope))
        .map(({ scopeName }) => scopeName),
  });
  grammar = await registry.loadGrammar('source.python');
});

test('a placeholder is a variable in every kind of string', () => {
  for (const quoted of ["'…'", '"…"', "'''…'''", '"""…"""', "r'…'"]) {
    const line = `text = ${quoted.replace('…', 'Dear ${name}, pay.')}`;
    assert.deepEqual(placeholders(line), ['name'], line);
    assert.equal(scopesAt(line, 'Dear').length > 0, true);
  }
});

test('a placeholder is one in a template over several lines, and of a section', () => {
  const text = 's = MarkdownSection[Ticket](\n    template="""\n    Sort ${ticket}\n    """,\n)';
  assert.deepEqual(placeholders(text), ['ticket']);
});

test('a doubled dollar is an escape, and what it escapes no placeholder', () => {
  const line = 'text = "It costs $${name} or $$5"';
  assert.deepEqual(placeholders(line), []);
  assert.match(scopesAt(line, '$$5').at(-1), /^constant\.character\.escape\.dollar/);
});

test('code, comments and f-strings have no placeholders', () => {
  for (const line of ['# ${name}', 'f"${name}"', 'x = {name}', '"$ {name}" "${}" "${a b}"']) {
    assert.deepEqual(placeholders(line), [], line);
  }
});

/** The texts of the placeholders in a program. */
function placeholders(text) {
  return tokens(text)
    .filter(({ scopes }) => scopes.includes('variable.parameter.placeholder.foldline'))
    .map(({ text: found }) => found);
}

function scopesAt(line, text) {
  const start = line.indexOf(text);
  return tokens(line).find((token) => token.start <= start && start < token.end).scopes;
}

function tokens(text) {
  let stack = textmate.INITIAL;
  return text.split('\n').flatMap((line) => {
    const { tokens: found, ruleStack } = grammar.tokenizeLine(line, stack);
    stack = ruleStack;
    return found.map(({ startIndex: start, endIndex: end, scopes }) => ({
      ...{ start, end, scopes },
      text: line.slice(start, end),
    }));
  });
}
