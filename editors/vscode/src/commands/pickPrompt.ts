import * as vscode from 'vscode';

import { isSource } from '../imports';
import type { Server } from '../server';
import type { ListedPrompt, PromptReference } from '../wire';

/** After this long, a person is told what they wait for. */
const LATE_MS = 100;

/**
 * The prompt of the active editor: the one around the cursor, the only one, or the one picked.
 * `late` is called with the name of the file if the server isn't done with it at once.
 */
export async function pickPrompt(
  server: Server,
  late: (file: string) => void = () => undefined,
): Promise<PromptReference | undefined> {
  const editor = vscode.window.activeTextEditor;
  const asked =
    editor !== undefined && isSource(editor.document)
      ? { uri: editor.document.uri.toString() }
      : {};
  const waiting = setTimeout(
    () => late(editor?.document.uri.path.split('/').at(-1) ?? 'the prompts'),
    LATE_MS,
  );
  const prompts = await server
    .execute<ListedPrompt[]>('prompt.list', asked)
    .finally(() => clearTimeout(waiting));
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
    'No prompt in this file: foldline looks for a module-level PromptTemplate. A string or a template of the file can be adopted as one.',
    ...(Object.keys(commands) as (keyof typeof commands)[]),
  );
  if (choice !== undefined) {
    await vscode.commands.executeCommand(`foldline.${commands[choice]}`);
  }
}
