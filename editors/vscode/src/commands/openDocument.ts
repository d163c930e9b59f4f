import * as vscode from 'vscode';

import type { Previews } from '../preview/previews';
import type { Server } from '../server';
import type { PromptReference } from '../wire';
import { promptFor, sessionOf } from './promptCommands';

/** The address of a prompt's text; the language client asks the server for what is there. */
export function promptDocument(
  { uri, name }: PromptReference,
  query: Record<string, string>,
): vscode.Uri {
  return vscode.Uri.from({
    scheme: 'foldline-prompt',
    path: `${vscode.Uri.parse(uri).path}/${name}.md`,
    query: new URLSearchParams(query).toString(),
  });
}

/** *Open Prompt as Document*: what the panel shows, as a text to search, compare and copy. */
export async function openDocument(
  server: Server,
  previews: Previews,
  asked?: PromptReference,
): Promise<void> {
  const prompt = await promptFor(server, previews, asked);
  if (prompt !== undefined) {
    const uri = promptDocument(prompt, sessionOf(previews, prompt));
    await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.Beside });
  }
}
