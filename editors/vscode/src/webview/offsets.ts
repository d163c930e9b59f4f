// Where the characters of Markdown's tokens stand in the text that was parsed. The parsers say the
// lines of blocks only; within them, this follows the markup. What it can't follow has no place.

import type { Token } from './tokens';

/** For each character of a token that shows some, its offset in the text; -1 if it isn't known. */
export type Offsets = Map<Token, number[]>;

const LINK_END = /^(?:>|\]\[[^\]]*\]|\]\((?:\\.|"[^"]*"|<[^>]*>|[^()\\]|\([^()]*\))*\))/;
const ESCAPED = /[!-/:-@[-`{-~]/;

export function offsetsOf(tokens: readonly Token[], text: string): Offsets {
  const found: Offsets = new Map();
  const lines = [...text.matchAll(/([^\r\n]*)(?:\r\n|\r|\n|$)/g)];
  let row = 0;
  // Where the next cell of a table begins.
  let cell: number | null = null;
  for (const token of tokens) {
    const first = token.map?.[0] ?? 0;
    if (token.type === 'table_open') {
      row = first - 1;
    } else if (token.type === 'thead_close') {
      row++; // The line of dashes.
    } else if (token.type === 'tr_open') {
      row++;
      const start = lines[row]?.index ?? text.length;
      cell = start + lengthOf(/^[\s>]*(?:(?:[-+*]|\d+[.)])\s)?/, text.slice(start));
    } else if (token.type === 'table_close') {
      cell = null;
    } else if (token.type === 'fence' || token.type === 'code_block') {
      found.set(token, ofLines(token.content, first + Number(token.type === 'fence')));
    } else if (token.type === 'inline' && cell !== null) {
      cell += lengthOf(/^[ \t]*\|?[ \t]*/, text.slice(cell));
      const places = ofCell(token.content, cell);
      cell = (places.at(-1) ?? cell - 1) + 1;
      inline(token, places);
    } else if (token.type === 'inline') {
      inline(token, ofLines(token.content, first));
    }
  }
  for (const [{ content }, places] of found) {
    places.forEach((at, i) => {
      if (text[at] !== content[i] && !(content[i] === ' ' && text[at] === '\n')) {
        places[i] = -1;
      }
    });
  }
  return found;

  /** The places of lines that end as those of the text do: markup and blanks are before them. */
  function ofLines(content: string, first: number): number[] {
    return content.split('\n').flatMap((line, number) => {
      const all = lines[first + number];
      const [whole, index] = [all?.[1] ?? '', all?.index ?? 0];
      const own = line.trimStart();
      // A last line has lost the blanks behind it.
      const at = index + whole.lastIndexOf(own) - (line.length - own.length);
      return [...Array.from({ length: line.length }, (_, i) => at + i), index + whole.length];
    });
  }

  /** The places in a row of a table, where `\|` is a character of a cell. */
  function ofCell(content: string, from: number): number[] {
    return content.split('').map((char) => {
      from += Number(char === '|' && text[from] === '\\');
      return from++;
    });
  }

  function inline({ content, children }: Token, places: number[]): void {
    let at = 0;
    /** The places of a token's characters, of which some are escaped. */
    const take = (token: Token, escaped: boolean): void => {
      const own = token.content.split('').map((char) => {
        at += Number(escaped && content[at] === '\\' && ESCAPED.test(content[at + 1] ?? ''));
        const same = content[at] === char || (char === ' ' && content[at] === '\n');
        return (same ? places[at++] : ++at && -1) ?? -1;
      });
      found.set(token, own);
    };
    for (const token of children ?? []) {
      const { type, markup } = token;
      if (type === 'softbreak' || type === 'hardbreak') {
        at = content.indexOf('\n', at) + 1;
        at += lengthOf(/^[ \t]*/, content.slice(at));
      } else if (type === 'code_inline') {
        at += markup.length;
        const isPadded = !content.slice(at).replaceAll('\n', ' ').startsWith(token.content);
        at += Number(isPadded);
        take(token, false);
        at += Number(isPadded) + markup.length;
      } else if (type === 'link_open' || type === 'link_close') {
        at = type === 'link_open' ? at + 1 : behindLink(content, at);
      } else if (type === 'image') {
        at = behindLink(content, content.indexOf(`](`, at));
      } else if (type === 'text' || type === 'text_special') {
        if (content[at] !== token.content[0] && content[at] !== '\\') {
          at = Math.max(at, content.indexOf(token.content, at));
        }
        take(token, true);
      } else {
        at += markup.length;
      }
    }
  }
}

/** The end of a link whose text ends at an offset. */
function behindLink(content: string, at: number): number {
  const rest = content.slice(at);
  return at + (lengthOf(LINK_END, rest) || 1);
}

function lengthOf(pattern: RegExp, text: string): number {
  return pattern.exec(text)?.[0].length ?? 0;
}
