// The panel that isn't locked follows the cursor from prompt to prompt.

import * as vscode from 'vscode';

import { holdsPrompts } from '../imports';
import { promptAt } from '../commands/pickPrompt';
import type { Server } from '../server';
import type { ListedPrompts } from './listed';
import type { Previews } from './previews';

/** After this much quiet a cursor has come to where it was going. */
const QUIET_MS = 150;

export class Follower implements vscode.Disposable {
  private readonly toDispose: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private under: string | undefined;

  constructor(
    private readonly server: Server,
    private readonly previews: Previews,
    private readonly listed: ListedPrompts,
  ) {
    const soon = (editor: vscode.TextEditor | undefined): void => {
      clearTimeout(this.timer);
      if (editor !== undefined && previews.following !== undefined) {
        this.timer = setTimeout(() => void this.follow(editor), QUIET_MS);
      }
    };
    this.toDispose = [
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => soon(textEditor)),
      vscode.window.onDidChangeActiveTextEditor(soon),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.toDispose).dispose();
  }

  private async follow({ document, selection }: vscode.TextEditor): Promise<void> {
    const follows = vscode.workspace
      .getConfiguration('foldline')
      .get<boolean>('preview.follow', true);
    if (!follows || this.server.state.kind !== 'running' || !holdsPrompts(document)) {
      return;
    }
    try {
      const prompts = await this.listed.of(document);
      const prompt = promptAt(prompts, selection.active);
      const panel = this.previews.following;
      if (prompt === undefined || panel?.panel.visible !== true || panel.waits) {
        return;
      }
      // A prompt that was chosen stays until the cursor goes to another: it isn't taken away by
      // the one in which the cursor has been all along.
      const under = `${prompt.uri}#${prompt.name}`;
      const moved = this.under !== under;
      this.under = under;
      if (moved && this.previews.showing(prompt) === undefined) {
        await this.previews.turn(panel, prompt);
      }
    } catch (error) {
      this.server.log.debug(`The preview follows no further: ${String(error)}`);
    }
  }
}
