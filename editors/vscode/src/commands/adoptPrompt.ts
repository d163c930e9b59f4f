import * as vscode from 'vscode';

import { failureOf } from '../failure';
import type { Server } from '../server';

/** *Adopt as Prompt*: a prompt module from a string, template or messages of the active editor. */
export async function adoptPrompt(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'python') {
    throw new Error('Open the Python file whose text is to become a prompt.');
  }
  const uri = editor.document.uri.toString();
  const adopt = (name?: string) =>
    server.execute<{ uri: string }>('prompt.adopt', {
      uri,
      apply: true,
      ...(name === undefined ? {} : { name }),
    });
  let adopted: { uri: string };
  try {
    adopted = await adopt();
  } catch (error) {
    const names = failureOf(error)?.near ?? [];
    if (names.length === 0) {
      throw error;
    }
    const name = nameAt(editor, names) ?? (await pick(names));
    if (name === undefined) {
      return;
    }
    adopted = await adopt(name);
  }
  await vscode.window.showTextDocument(vscode.Uri.parse(adopted.uri));
}

/** The one of these names on the line of the cursor, such as `LETTER` in `LETTER = "…"`. */
function nameAt(
  { document, selection }: vscode.TextEditor,
  names: readonly string[],
): string | undefined {
  const words: readonly string[] = document.lineAt(selection.active.line).text.match(/\w+/g) ?? [];
  return names.find((name) => words.includes(name));
}

function pick(names: readonly string[]): Thenable<string | undefined> {
  return vscode.window.showQuickPick([...names], { placeHolder: 'Which text becomes a prompt?' });
}
