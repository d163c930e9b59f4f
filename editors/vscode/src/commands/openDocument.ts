import * as vscode from 'vscode';

import { messageOf } from '../failure';
import type { Server } from '../server';
import { pickPrompt } from './pickPrompt';

/** *Open Prompt as Document*: what the model gets, as a text to search, compare and copy. */
export function registerOpenDocument(server: Server): vscode.Disposable {
  return vscode.commands.registerCommand('foldline.openDocument', async () => {
    try {
      const prompt = await pickPrompt(server);
      if (prompt !== undefined) {
        const { path } = vscode.Uri.parse(prompt.uri);
        // The language client asks the server for what is at an address of this scheme.
        const uri = vscode.Uri.from({
          scheme: 'foldline-prompt',
          path: `${path}/${prompt.name}.md`,
        });
        await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.Beside });
      }
    } catch (error) {
      void vscode.window.showErrorMessage(`foldline: ${messageOf(error)}`);
    }
  });
}
