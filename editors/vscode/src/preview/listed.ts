// The prompts of a document, and where in it each section stands.

import * as vscode from 'vscode';

import type { Server } from '../server';
import type { ListedPrompt, Range, Section } from '../wire';
import type { Place } from './messages';

export class ListedPrompts {
  private listed: { uri: string; version: number; prompts: Promise<ListedPrompt[]> } | undefined;

  constructor(private readonly server: Server) {}

  /** The prompts of a document, asked for once for each of its versions. */
  async of({ uri, version }: vscode.TextDocument): Promise<ListedPrompt[]> {
    const address = uri.toString();
    if (this.listed?.uri !== address || this.listed.version !== version) {
      const prompts = this.server.execute<ListedPrompt[]>('prompt.list', { uri: address });
      const listed = { uri: address, version, prompts };
      this.listed = listed;
      prompts.catch(() => {
        // A server that wasn't ready is asked again.
        if (this.listed === listed) {
          this.listed = undefined;
        }
      });
    }
    return this.listed.prompts;
  }
}

/** All sections, each before those below it. */
export function flatten(sections: readonly Section[]): Section[] {
  return sections.flatMap((section) => [section, ...flatten(section.children)]);
}

/** The innermost section around a place, or on its line: indentation belongs to what follows. */
export function sectionAt(
  sections: readonly Section[],
  position: vscode.Position,
): Section | undefined {
  const { line } = position;
  const around =
    sections.find((section) => rangeOf(section.range).contains(position)) ??
    sections.find(({ range: { start, end } }) => start.line <= line && line <= end.line);
  return around && (sectionAt(around.children, position) ?? around);
}

export function rangeOf({ start, end }: Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** The place at a line of the source: the first section above all of them, none below the prompt. */
export function placeAtLine(prompt: ListedPrompt, line: number): Place | undefined {
  const stretches = stretchesOf(prompt);
  const first = stretches[0];
  if (first === undefined || line > prompt.range.end.line) {
    return undefined;
  }
  const { key, from, to } = stretches.filter((stretch) => stretch.from <= line).at(-1) ?? first;
  return { key, share: Math.min(Math.max((line - from) / Math.max(to - from, 1), 0), 1) };
}

/** The line of the source at a place; none of a section that isn't written in this document. */
export function lineAtPlace(prompt: ListedPrompt, { key, share }: Place): number | undefined {
  const stretch = stretchesOf(prompt).find((one) => one.key === key);
  return stretch && Math.round(stretch.from + share * (stretch.to - stretch.from));
}

/** The lines of each section up to the next one, which may be below it. */
function stretchesOf(prompt: ListedPrompt): { key: string; from: number; to: number }[] {
  const starts = flatten(prompt.sections)
    .map(({ key, range }) => ({ key, from: range.start.line }))
    .sort((a, b) => a.from - b.from);
  return starts.map(({ key, from }, index) => ({
    key,
    from,
    to: starts[index + 1]?.from ?? prompt.range.end.line,
  }));
}
