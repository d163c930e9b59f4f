import MarkdownIt from 'markdown-it';

import type { Token } from './tokens';

// What stands as `&lt;` is sent as `&lt;`.
const parser = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable(
  'entity',
);

export function parseMarkdown(text: string): readonly Token[] {
  return parser.parse(text, {});
}
