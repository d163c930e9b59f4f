// The files that instruct agents, by their paths: the server decides, this says what it is asked of.

import * as vscode from 'vscode';

/** Those that clients load by themselves, as in `ide/instructions/files.py`. */
const PATTERNS = [
  'AGENTS.md',
  'AGENTS.override.md',
  'CLAUDE.md',
  'CLAUDE.local.md',
  'GEMINI.md',
  'SKILL.md',
  '/.github/copilot-instructions.md',
  '*.instructions.md',
  '*.prompt.md',
  '.cursor/rules/**/*.mdc',
  '.claude/rules/**/*.md',
];

/** The globs of the files that the server is told of, besides Python. */
export function instructionGlobs(): string[] {
  return [...PATTERNS, ...patterns().filter((pattern) => !pattern.startsWith('!'))].map(glob);
}

export function isInstructionFile(document: vscode.TextDocument): boolean {
  const out = patterns().filter((pattern) => pattern.startsWith('!'));
  const taken = out.map((pattern) => glob(pattern.slice(1)));
  return matches(document, instructionGlobs()) && !matches(document, taken);
}

/** VS Code shows the headings of these itself; a second outline would double them. */
export function hasOutline({ languageId }: vscode.TextDocument): boolean {
  return ['markdown', 'prompt', 'instructions', 'chatagent', 'skill'].includes(languageId);
}

function matches(document: vscode.TextDocument, globs: readonly string[]): boolean {
  const filters = globs.map((pattern) => ({ scheme: 'file', pattern }));
  return vscode.languages.match(filters, document) > 0;
}

function glob(pattern: string): string {
  return `**/${pattern.replace(/^\//, '')}`;
}

/** The patterns of the setting; with `!` they take files out. */
function patterns(): string[] {
  return vscode.workspace.getConfiguration('foldline').get<string[]>('instructions', []);
}
