import * as vscode from 'vscode';

import { messageOf } from '../failure';
import type { Previews } from '../preview/previews';
import type { Server } from '../server';
import type { PromptReference } from '../wire';
import { pickPrompt } from './pickPrompt';

/** *Preview Prompt*: of the lens that was clicked, or of the active editor. */
export function registerPreview(server: Server, previews: Previews): vscode.Disposable {
  return vscode.commands.registerCommand('foldline.preview', async (asked?: PromptReference) => {
    try {
      const prompt = asked?.name === undefined ? await pickPrompt(server) : asked;
      if (prompt !== undefined) {
        await previews.open(prompt);
      }
    } catch (error) {
      void vscode.window.showErrorMessage(`foldline: ${messageOf(error)}`);
    }
  });
}
