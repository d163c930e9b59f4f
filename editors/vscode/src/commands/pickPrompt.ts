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
    void vscode.window.showInformationMessage('foldline: there is no prompt in this file.');
    return undefined;
  }
  const around = prompts.find((prompt) => editor !== undefined && holdsCursor(prompt, editor));
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

function holdsCursor({ range }: ListedPrompt, editor: vscode.TextEditor): boolean {
  const { start, end } = range;
  return new vscode.Range(start.line, start.character, end.line, end.character).contains(
    editor.selection.active,
  );
}
