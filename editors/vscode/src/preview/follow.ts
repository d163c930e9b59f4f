// The panel that isn't locked follows the cursor from prompt to prompt.

import * as vscode from 'vscode';

import { importsFoldline } from '../imports';
import { promptAt } from '../commands/pickPrompt';
import type { Server } from '../server';
import type { ListedPrompt } from '../wire';
import type { Previews } from './previews';

/** After this much quiet a cursor has come to where it was going. */
const QUIET_MS = 150;

export class Follower implements vscode.Disposable {
  private readonly toDispose: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private under: string | undefined;
  private listed: { uri: string; version: number; prompts: ListedPrompt[] } | undefined;

  constructor(
    private readonly server: Server,
    private readonly previews: Previews,
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

  /** The prompts of a document, asked for once for each of its versions. */
  async promptsOf(document: vscode.TextDocument): Promise<ListedPrompt[]> {
    const uri = document.uri.toString();
    if (this.listed?.uri !== uri || this.listed.version !== document.version) {
      const { version } = document;
      const prompts = await this.server.execute<ListedPrompt[]>('prompt.list', { uri });
      this.listed = { uri, version, prompts };
    }
    return this.listed.prompts;
  }

  private async follow({ document, selection }: vscode.TextEditor): Promise<void> {
    const follows = vscode.workspace
      .getConfiguration('foldline')
      .get<boolean>('preview.follow', true);
    if (!follows || this.server.state.kind !== 'running' || !importsFoldline(document)) {
      return;
    }
    try {
      const prompts = await this.promptsOf(document);
      const prompt = promptAt(prompts, selection.active);
      const panel = this.previews.following;
      if (prompt === undefined || panel?.panel.visible !== true) {
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
