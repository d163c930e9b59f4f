// The tabs beside the text: tools, output, messages, costs.

import type { View } from '../preview/messages';
import type { Block, CacheStage, Output, Tool } from '../wire';
import { element } from './dom';
import { amount, counted, share } from './numbers';

export const USER = 'user';

export interface Message {
  role: string;
  content: string;
}

export function roleOf(block: Block): string {
  return block.role ?? USER;
}

/** The messages that the blocks make up, as providers are sent them. */
export function messagesOf(blocks: readonly Block[]): Message[] {
  const messages: Message[] = [];
  for (const block of blocks) {
    const last = messages.at(-1);
    if (last?.role === roleOf(block)) {
      last.content += block.text;
    } else if (block.text !== '') {
      messages.push({ role: roleOf(block), content: block.text });
    }
  }
  return messages.map(({ role, content }) => ({ role, content: content.trim() }));
}

export function toolsSheet(tools: readonly Tool[]): Node[] {
  return tools.map((tool) =>
    element(
      'article.tool',
      {},
      element(
        'h2',
        {},
        element('code', {}, tool.name),
        tool.tokens !== undefined && element('span.quiet', {}, counted(tool.tokens, 'token')),
      ),
      element('p.description', {}, tool.description),
      json(tool.schema, `Schema of ${tool.name}`),
    ),
  );
}

export function outputSheet(output: Output): Node[] {
  const heading = element(
    'h2',
    {},
    element('code', {}, output.type),
    output.container === 'array' && element('span.quiet', {}, 'a list of them'),
  );
  return [heading, json(output.schema, `Schema of ${output.type}`)];
}

export function messagesSheet(blocks: readonly Block[]): Node[] {
  return messagesOf(blocks).map(({ role, content }) =>
    element(
      'article.message',
      {},
      element('h2', {}, role),
      element('pre', { tabindex: '0', 'aria-label': `Message of the ${role}` }, content),
    ),
  );
}

/** The sums, the dearest sections, and what a provider's cache can keep. */
export function costsSheet(blocks: readonly Block[], view: View): Node[] {
  const { tokens, cache } = view;
  if (!tokens) {
    return [];
  }
  const parts = [...tokens.words, ...(view.kept ? [view.kept.words] : [])].join(' · ');
  const dear = blocks
    .filter((block) => (block.tokens?.self ?? 0) > 0)
    .sort((one, other) => (other.tokens?.self ?? 0) - (one.tokens?.self ?? 0));
  return [
    element('h2', {}, 'Sections'),
    element('p.doc', {}, parts),
    sharesOf(dear.slice(0, MOST), tokens.text),
    ...(cache?.sentence
      ? [
          element('h2', {}, 'Cache plan'),
          element('p.doc', { title: PLAN }, cache.sentence),
          planOf(cache.stages),
        ]
      : []),
  ];
}

const MOST = 12;

const PLAN =
  'How much of the prompt begins alike in other requests, by what the types of its fields say. ' +
  'A provider can be asked to keep it.';

function sharesOf(blocks: readonly Block[], whole: number): HTMLElement {
  const rows = blocks.map((block) => {
    const own = block.tokens?.self ?? 0;
    const bar = element('span.bar-of', { 'aria-hidden': 'true' });
    bar.style.setProperty('--share', String(whole === 0 ? 0 : own / whole));
    return element(
      'tr',
      {},
      element('td', {}, [block.number, block.title || block.key].filter(Boolean).join(' ')),
      element('td.amount', {}, amount(own)),
      element('td.amount', {}, share(own, whole)),
      element('td.share', {}, bar),
    );
  });
  return table('shares', ['section', 'tokens', 'share', ''], rows);
}

/** The plan as a list: what is sent first changes least. */
function planOf(stages: readonly CacheStage[]): HTMLElement {
  const rows = stages.flatMap(({ first, last, tokens, why, change, breakpoint }) => [
    element(
      'tr',
      {},
      element('td', {}, first === last ? first : `${first} … ${last}`),
      element('td.amount', {}, amount(tokens)),
      element('td', {}, why),
      element('td.amount', {}, amount(change)),
    ),
    ...(breakpoint === null
      ? []
      : [element('tr.mark', {}, element('td', { colspan: '4' }, breakpoint))]),
  ]);
  return table('stages', ['sections', 'tokens', 'changes', 're-read if changed'], rows);
}

function table(kind: string, names: string[], rows: HTMLElement[]): HTMLElement {
  const head = names.map((name) => (name === '' ? element('td') : element('th', {}, name)));
  return element(
    `div.${kind}`,
    {},
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...head)),
      element('tbody', {}, ...rows),
    ),
  );
}

function json(value: unknown, label: string): HTMLElement {
  return element('pre', { tabindex: '0', 'aria-label': label }, JSON.stringify(value, null, 2));
}
