import type * as vscode from 'vscode';

import type { Previews } from '../preview/previews';
import type { Server } from '../server';
import type { PromptReference } from '../wire';
import { pickPrompt } from './pickPrompt';

/** *Preview Prompt*: of the lens that was clicked, or of the active editor. */
export async function openPreview(
  server: Server,
  previews: Previews,
  column: vscode.ViewColumn,
  asked?: PromptReference,
): Promise<void> {
  // Menus name a file, which is the active editor's.
  const named = asked?.name !== undefined;
  const late = (file: string): void => previews.expect(file, column);
  try {
    const prompt = named ? asked : await pickPrompt(server, late);
    if (prompt !== undefined) {
      await previews.open(prompt, column);
    }
  } finally {
    previews.giveUp();
  }
}
