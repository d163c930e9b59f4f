import * as path from 'node:path';
import * as vscode from 'vscode';

import { failureOf, messageOf } from '../failure';
import type { Server } from '../server';
import type { AdoptablePrompt } from '../wire';

interface Chosen {
  name?: string | undefined;
  line?: number | undefined;
  style?: string | undefined;
  output?: string | undefined;
}

/**
 * *Adopt as Prompt*: a prompt module from a string, template or messages, of the view of texts or
 * at the cursor. The server offers to rewrite the call.
 */
export async function adoptPrompt(server: Server, listed?: AdoptablePrompt): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const uri = listed?.uri ?? editor?.document.uri.toString();
  if (uri === undefined) {
    throw new Error('Open the file whose text is to become a prompt.');
  }
  const chosen: Chosen =
    listed === undefined
      ? { line: editor?.selection.active.line }
      : { name: listed.name || undefined };
  for (;;) {
    try {
      const argument = { uri, apply: true, ...chosen };
      const adopted = await server.execute<{ uri: string }>('prompt.adopt', argument);
      await vscode.window.showTextDocument(vscode.Uri.parse(adopted.uri));
      return;
    } catch (error) {
      if (!(await choose(error, chosen))) {
        return;
      }
    }
  }
}

/** Lets the user say what the server can't know; false if the user doesn't. */
async function choose(error: unknown, chosen: Chosen): Promise<boolean> {
  const { near: names = [], styles = [], exists } = failureOf(error) ?? {};
  if (exists !== undefined) {
    return chooseModule(vscode.Uri.parse(exists), chosen);
  }
  if (names.length > 0 && chosen.name === undefined) {
    chosen.name = await pick(names, 'Which text becomes a prompt?');
    return chosen.name !== undefined;
  }
  if (styles.length > 0 && chosen.style === undefined) {
    chosen.style = await pick(styles, messageOf(error));
    return chosen.style !== undefined;
  }
  throw error;
}

/** Opens the module that is there, or asks for the name of another one. */
async function chooseModule(module: vscode.Uri, chosen: Chosen): Promise<boolean> {
  const name = path.basename(module.fsPath);
  const open = `Open ${name}`;
  const choice = await pick([open, 'Write Another Module…'], `${name} exists, and is left alone.`);
  if (choice === open) {
    await vscode.window.showTextDocument(module);
  }
  if (choice === undefined || choice === open) {
    return false;
  }
  chosen.output = await vscode.window.showInputBox({
    prompt: 'The module to write, beside the text',
    value: name.replace(/\.py$/, '_2.py'),
  });
  return chosen.output !== undefined;
}

function pick(names: readonly string[], placeHolder: string): Thenable<string | undefined> {
  return vscode.window.showQuickPick([...names], { placeHolder });
}
