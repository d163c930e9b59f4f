import MarkdownIt from 'markdown-it';

import type { Token } from './tokens';

const parser = new MarkdownIt({ html: false, linkify: false, typographer: false });

export function parseMarkdown(text: string): readonly Token[] {
  return parser.parse(text, {});
}
