// Reports as documents that are never unsaved: what a prompt costs, and how foldline is.

import * as vscode from 'vscode';

import type { Previews } from '../preview/previews';
import type { Server } from '../server';
import { signed } from '../views/promptsView';
import type { PromptTokens } from '../answers';
import { promptFor } from './promptCommands';

/** *Show Token Report*: each section's tokens, its own, with what is below, and if it is opened. */
export async function showTokenReport(server: Server, previews: Previews): Promise<void> {
  const prompt = await promptFor(server, previews);
  if (prompt !== undefined) {
    const costs = await server.execute<PromptTokens>('prompt.tokens', { ...prompt });
    await showText(`Tokens of ${prompt.name}`, tokenReport(costs));
  }
}

export function tokenReport(costs: PromptTokens): string {
  const about = costs.exact && costs.certain ? '' : '~';
  const rows = costs.sections.map(({ path, number, title, tokens, subtree, if_opened }) => [
    `${'  '.repeat(path.length - 1)}${number} ${title}`.trimEnd(),
    String(tokens),
    String(subtree),
    if_opened === null ? '' : signed(if_opened.total),
  ]);
  const head = ['section', 'own', 'with below', 'if opened'];
  const share = costs.budget === null ? '' : ` of ${costs.budget}`;
  const parts = Object.entries({
    Text: costs.text,
    Tools: costs.tools,
    'Output schema': costs.output,
  });
  return [
    `${costs.name}: ${about}${costs.tokens}${share} tokens (${costs.encoding}), counted from the source`,
    ...parts
      .filter(([, tokens]) => tokens > 0)
      .map(([name, tokens]) => `${name}: ${about}${tokens}`),
    '',
    ...table([head, ...rows]),
    '',
  ].join('\n');
}

/** *Show Health*: which server, which Python, which language servers, and whether it is trusted. */
export async function showHealth(server: Server): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const status = await server.execute<Status>(
    'status',
    uri?.scheme === 'file' ? { uri: uri.toString() } : {},
  );
  const state = server.state;
  const from = state.kind === 'running' ? state.origin : state.kind;
  const { interpreter, languageServers: servers } = status;
  const lines = [
    `foldline ${status.version}, in Python ${status.python}`,
    '',
    ...table([
      ['Server', from],
      [
        'Trust',
        status.trusted ? 'trusted: prompts are executed' : 'restricted: nothing is executed',
      ],
      ['Prompts run in', `${interpreter.path} (${interpreter.reason})`],
      ['Folders', status.roots.join(', ') || 'none'],
      ['Open previews', String(status.previews)],
      ...servers.map((one) => [one.name, [one.state, one.root].filter(Boolean).join(' in ')]),
    ]),
    '',
    servers.length === 0 ? 'No other language server has been needed so far.\n' : '',
  ];
  await showText('Health of foldline', lines.join('\n'));
}

/** *Restart Worker*: the processes that run prompts and code servers start afresh. */
export async function restartWorker(server: Server): Promise<void> {
  const { text } = await server.execute<{ text: string }>('restart');
  void vscode.window.setStatusBarMessage(`foldline: ${text}`, 5_000);
}

interface Status {
  version: string;
  python: string;
  trusted: boolean;
  roots: string[];
  previews: number;
  interpreter: { path: string; reason: string };
  languageServers: { name: string; root?: string; state?: string }[];
}

const SCHEME = 'foldline-report';
const texts = new Map<string, string>();
const changed = new vscode.EventEmitter<vscode.Uri>();

/** Gives the editor the texts of reports, each the last of its title. */
export function provideReports(): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    onDidChange: changed.event,
    provideTextDocumentContent: ({ path }) => texts.get(path) ?? 'Run the command again.',
  });
}

async function showText(title: string, content: string): Promise<void> {
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${title}` });
  texts.set(uri.path, content);
  changed.fire(uri);
  await vscode.window.showTextDocument(uri, {
    viewColumn: vscode.ViewColumn.Active,
    preview: false,
  });
}

function table(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || row.length === 2
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
