import * as vscode from 'vscode';

import type { Server } from '../server';
import type { ListedPrompt, PromptReference } from '../wire';

/** The prompt of the active editor: the one around the cursor, the only one, or the one picked. */
export async function pickPrompt(server: Server): Promise<PromptReference | undefined> {
  const editor = vscode.window.activeTextEditor;
  const asked =
    editor?.document.languageId === 'python' ? { uri: editor.document.uri.toString() } : {};
  const prompts = await server.execute<ListedPrompt[]>('prompt.list', asked);
  if (prompts.length === 0) {
    void offerOthers();
    return undefined;
  }
  const around = editor && promptAt(prompts, editor.selection.active);
  if (around !== undefined || prompts.length === 1) {
    return around ?? prompts[0];
  }
  const items = prompts.map((prompt) => ({
    label: prompt.name,
    description: `${prompt.ns}/${prompt.key}`,
    prompt,
  }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: 'Which prompt?' });
  return picked?.prompt;
}

/** The prompt around a place of its document. */
export function promptAt(
  prompts: readonly ListedPrompt[],
  position: vscode.Position,
): ListedPrompt | undefined {
  return prompts.find(({ range: { start, end } }) =>
    new vscode.Range(start.line, start.character, end.line, end.character).contains(position),
  );
}

async function offerOthers(): Promise<void> {
  const commands = {
    'Adopt as Prompt': 'adoptPrompt',
    'Go to Prompt…': 'goToPrompt',
    'New Prompt': 'newPrompt',
  } as const;
  const choice = await vscode.window.showInformationMessage(
    'foldline: there is no prompt in this file. One is a PromptTemplate at the level of the module; a string or a template can be adopted as one.',
    ...(Object.keys(commands) as (keyof typeof commands)[]),
  );
  if (choice !== undefined) {
    await vscode.commands.executeCommand(`foldline.${commands[choice]}`);
  }
}
