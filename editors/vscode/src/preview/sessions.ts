// The server's previews that nothing in the window shows any more.

import * as vscode from 'vscode';

import type { Server } from '../server';

/** Closes the previews that panels leave, each once no document or comparison shows it, either. */
export class Sessions implements vscode.Disposable {
  private readonly left = new Set<string>();
  private readonly watching: vscode.Disposable;

  constructor(private readonly server: Server) {
    this.watching = vscode.Disposable.from(
      vscode.window.tabGroups.onDidChangeTabs(() => this.closeUnused()),
      server.onDidChangeState(({ kind }) => {
        // A server that is gone has closed them, and the next one counts from the start.
        if (kind !== 'running') {
          this.left.clear();
        }
      }),
    );
  }

  leave(session: string): void {
    this.left.add(session);
    this.closeUnused();
  }

  dispose(): void {
    this.watching.dispose();
  }

  private closeUnused(): void {
    if (this.left.size === 0) {
      return;
    }
    const shown = sessionsInTabs();
    for (const session of this.left) {
      if (!shown.has(session)) {
        this.left.delete(session);
        void this.close(session);
      }
    }
  }

  private async close(session: string): Promise<void> {
    try {
      await this.server.execute('prompt.closePreview', { sessionId: session });
    } catch (error) {
      this.server.log.debug(`closePreview: ${String(error)}`);
    }
  }
}

function sessionsInTabs(): Set<string | null> {
  const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ input }) => input));
  const uris = inputs.flatMap((input) => {
    if (input instanceof vscode.TabInputTextDiff) {
      return [input.original, input.modified];
    }
    return input instanceof vscode.TabInputText ? [input.uri] : [];
  });
  return new Set(
    uris
      .filter(({ scheme }) => scheme === 'foldline-prompt')
      .map(({ query }) => new URLSearchParams(query).get('session')),
  );
}
