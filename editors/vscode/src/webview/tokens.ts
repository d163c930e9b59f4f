// Markdown to elements, one by one: what a prompt says can never become markup of the page.

import { element } from './dom';

/** What markdown-it makes of a text, here and in Python: elements that open, close or stand alone. */
export interface Token {
  type: string;
  tag: string;
  nesting: number;
  content: string;
  markup: string;
  /** The lines of a block, the first and the one behind the last. */
  map: [number, number] | null;
  hidden: boolean;
  attrs: readonly (readonly [string, string | number])[] | null;
  children: Token[] | null;
}

const TAGS = new Set([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'hr', 'br'],
  ...['em', 'strong', 's', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
]);

/** The tokens of a text as elements that a person reads; `shown` is told what shows each. */
export function elementsOf(
  tokens: readonly Token[],
  shown: (token: Token, node: Node) => void = () => undefined,
): DocumentFragment {
  const fragment = document.createDocumentFragment();
  append(fragment, tokens, shown);
  return fragment;
}

function append(
  root: ParentNode & Node,
  tokens: readonly Token[],
  shown: (token: Token, node: Node) => void,
): void {
  const open: Node[] = [root];
  for (const token of tokens) {
    const parent = open.at(-1) ?? root;
    if (token.nesting === -1) {
      open.pop();
      continue;
    }
    const isInline = token.type === 'inline';
    const node = isInline ? elementsOf(token.children ?? [], shown) : nodeOf(token);
    shown(token, node);
    // The paragraphs of a tight list are there in name only; their children go to the item.
    parent.appendChild(node);
    if (token.nesting === 1) {
      open.push(token.hidden ? parent : node);
    }
  }
}

function nodeOf(token: Token): Node {
  if (token.hidden) {
    return document.createDocumentFragment();
  }
  switch (token.type) {
    case 'text':
    case 'text_special':
    case 'html_inline':
    case 'html_block':
      return document.createTextNode(token.content);
    case 'softbreak':
      // A model reads it as a new line, too.
      return element('br');
    case 'code_inline':
      return element('code', {}, token.content);
    case 'code_block':
    case 'fence':
      return element('pre', {}, element('code', {}, token.content));
    case 'link_open':
      return link(token);
    case 'image':
      return element('span.image', {}, `[${token.content}](${attribute(token, 'src')})`);
    default:
      return TAGS.has(token.tag) ? tagged(token) : element('span', {}, token.content);
  }
}

function link(token: Token): HTMLElement {
  const target = attribute(token, 'href');
  return /^(https?|mailto):/i.test(target)
    ? element('a', { href: target, title: target })
    : element('span.link', { title: target });
}

function tagged(token: Token): HTMLElement {
  const made = document.createElement(token.tag);
  const start = attribute(token, 'start');
  if (start !== '') {
    made.setAttribute('start', start);
  }
  const alignment = /text-align:(left|center|right)/.exec(attribute(token, 'style'))?.[1];
  if (alignment !== undefined) {
    made.classList.add(alignment);
  }
  return made;
}

function attribute(token: Token, name: string): string {
  return String(token.attrs?.find(([known]) => known === name)?.[1] ?? '');
}
