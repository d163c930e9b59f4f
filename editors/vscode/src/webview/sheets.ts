// The tabs beside the text: tools, output, messages, costs.

import type { View } from '../preview/messages';
import type { Block, CacheStage, Output, Tool } from '../wire';
import { button, element, withCode } from './dom';
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

/** The dearest sections, and what a provider's cache can keep; `all` shows every section. */
export function costsSheet(
  blocks: readonly Block[],
  view: View,
  reach: (id: string) => void,
  all: boolean,
): Node[] {
  const { tokens, cache } = view;
  if (!tokens) {
    return [];
  }
  const parts: Part[] = blocks.map((block) => ({
    ...{ id: block.id, name: nameOf(block), tokens: block.tokens?.self ?? 0 },
  }));
  parts.push({ name: 'Tools', tokens: tokens.tools });
  parts.push({ name: 'Output schema', tokens: tokens.output });
  const dear = parts
    .filter((part) => part.tokens > 0)
    .sort((one, other) => other.tokens - one.tokens);
  const approximate = tokens.words[0]?.startsWith('~') ? '~' : '';
  const rows = dear.map(({ id, name, tokens: own }) => {
    const bar = element('span.bar-of', { 'aria-hidden': 'true' });
    bar.style.setProperty('--share', String(own / (dear[0]?.tokens ?? own)));
    const said = `${approximate}${amount(own)} · ${share(own, tokens.total)}`;
    const label = id === undefined ? name : button('link', {}, () => reach(id), name);
    return element('li', {}, label, element('span.number', {}, said), bar);
  });
  const rest = rows.slice(MOST);
  const more = element(
    'details',
    {},
    element('summary', {}, `${rest.length} more`),
    element('ul.shares', {}, ...rest),
  );
  more.open = all;
  return [
    element('h2', {}, 'Tokens by section'),
    element('ul.shares', {}, ...rows.slice(0, MOST)),
    ...(rest.length > 0 ? [more] : []),
    ...(cache?.sentence
      ? [
          element('h2', {}, 'Cache'),
          element('p.doc', {}, PLAN),
          element('p', {}, `${cache.sentence}.`),
          element(
            'ol.stages',
            {},
            ...cache.stages.map((stage) => stageOf(stage, blocks, cache.cached > 0)),
          ),
        ]
      : []),
  ];
}

const MOST = 12;

const PLAN =
  'A provider can keep the beginning of a request for the next one, which is cheaper. Where ' +
  'something changes, it reads that and all below it again.';

/** A part of the request; `id` is that of a section. */
interface Part {
  id?: string;
  name: string;
  tokens: number;
}

function nameOf({ number, title, key }: Block): string {
  return [number, title || key].filter(Boolean).join(' ');
}

/** A stretch of the request; where nothing is `kept`, the plan's sentence has said so. */
function stageOf(stage: CacheStage, blocks: readonly Block[], kept: boolean): HTMLElement {
  const { first, last, tokens, why, change, breakpoint } = stage;
  const [from, to] = [first, last].map((key) => {
    const block = blocks.find((one) => one.key === key);
    return block ? nameOf(block) : key.charAt(0).toUpperCase() + key.slice(1);
  });
  const [often = '', ...causes] = why.split(': ');
  const cause = causes.length > 0 ? `, by ${causes.join(': ')}` : '';
  return element(
    'li',
    {},
    element('b', {}, from === to ? from : `${from} to ${to}`),
    element('span.number', {}, counted(tokens, 'token')),
    element(
      'span.doc',
      {},
      ...withCode(`${OFTEN[often] ?? often}${cause}.`),
      often !== 'constant' && ` Re-read if changed: ${counted(change, 'token')}`,
    ),
    kept && breakpoint !== null && element('span.mark', {}, breakpoint),
  );
}

const OFTEN: Record<string, string> = {
  constant: 'Never changes',
  stable: 'Changes with a deployment',
  'per session': 'Changes with each session',
  'per request': 'Changes with each request',
};

function json(value: unknown, label: string): HTMLElement {
  return element('pre', { tabindex: '0', 'aria-label': label }, JSON.stringify(value, null, 2));
}
