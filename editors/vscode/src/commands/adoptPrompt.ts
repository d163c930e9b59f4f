import * as vscode from 'vscode';

import { failureOf, messageOf } from '../failure';
import type { Server } from '../server';

/** *Adopt as Prompt*: a prompt module from a string, template or messages of the active editor. */
export async function adoptPrompt(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'python') {
    throw new Error('Open the Python file whose text is to become a prompt.');
  }
  const uri = editor.document.uri.toString();
  const chosen: { name?: string; style?: string } = {};
  let adopted: { uri: string } | undefined;
  while (adopted === undefined) {
    try {
      adopted = await server.execute<{ uri: string }>('prompt.adopt', {
        uri,
        apply: true,
        ...chosen,
      });
    } catch (error) {
      if (!(await choose(editor, error, chosen))) {
        return;
      }
    }
  }
  await vscode.window.showTextDocument(vscode.Uri.parse(adopted.uri));
}

/** Lets the user say what the server can't know; false if the user doesn't. */
async function choose(
  editor: vscode.TextEditor,
  error: unknown,
  chosen: { name?: string; style?: string },
): Promise<boolean> {
  const { near: names = [], styles = [] } = failureOf(error) ?? {};
  if (names.length > 0 && chosen.name === undefined) {
    chosen.name = nameAt(editor, names) ?? (await pick(names, 'Which text becomes a prompt?'));
    return chosen.name !== undefined;
  }
  if (styles.length > 0 && chosen.style === undefined) {
    chosen.style = await pick(styles, messageOf(error));
    return chosen.style !== undefined;
  }
  throw error;
}

/** The one of these names on the line of the cursor, such as `LETTER` in `LETTER = "…"`. */
function nameAt(
  { document, selection }: vscode.TextEditor,
  names: readonly string[],
): string | undefined {
  const words: readonly string[] = document.lineAt(selection.active.line).text.match(/\w+/g) ?? [];
  return names.find((name) => words.includes(name));
}

function pick(names: readonly string[], placeHolder: string): Thenable<string | undefined> {
  return vscode.window.showQuickPick([...names], { placeHolder });
}
