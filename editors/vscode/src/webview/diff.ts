// A unified diff as a person reads it.

import type { Comparison } from '../wire';
import { element } from './dom';
import { change } from './numbers';

export function diffOf(found: Comparison): HTMLElement {
  const { tokens, changes, tools, output, caveat } = found;
  if (changes.length + tools.length === 0 && found.unified + output === '') {
    return element('p.doc', {}, `No change since ${found.before}. ${caveat}`.trim());
  }
  const sections = changes.map((item) =>
    element('li', {}, `${item.title || item.key}: ${item.change}, ${change(item.tokens)} tokens`),
  );
  const others = tools.map((tool) =>
    element('li', {}, `tool ${tool.name}: ${tool.change}, ${change(tool.tokens)} tokens`),
  );
  if (output !== '') {
    others.push(element('li', {}, `the answer's schema: ${output}`));
  }
  // The first two lines name the sides, which the words above do.
  const lines = found.unified.split('\n').slice(2);
  return element(
    'div.diff',
    {},
    element('p.doc', {}, `${tokens.words} ${caveat}`.trim()),
    element('ul', {}, ...sections, ...others),
    element('pre', { tabindex: '0', 'aria-label': 'Differences' }, ...lines.map(lineOf)),
  );
}

function lineOf(line: string): HTMLElement {
  const kinds: Record<string, string> = { '+': 'added', '-': 'removed', '@': 'place' };
  return element('span', { class: `line ${kinds[line[0] ?? ''] ?? ''}` }, `${line}\n`);
}
