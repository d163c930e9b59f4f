import * as vscode from 'vscode';

import type { Server } from '../server';
import type { PromptReference } from '../wire';
import { PreviewPanel } from './panel';

export const VIEW_TYPE = 'foldline.preview';

/** The previews of this window: one panel for each prompt. */
export class Previews implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private readonly panels = new Set<PreviewPanel>();
  private last: PreviewPanel | undefined;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly server: Server,
  ) {}

  /** The panel that was looked at last, if it is still there. */
  get latest(): PreviewPanel | undefined {
    return this.last;
  }

  /** Shows the prompt's panel beside the editor, which keeps the focus. */
  async open(prompt: PromptReference): Promise<PreviewPanel> {
    const there = [...this.panels].find((panel) => samePrompt(panel.prompt, prompt));
    if (there !== undefined) {
      there.panel.reveal(undefined, true);
      this.last = there;
      return there;
    }
    const panel = vscode.window.createWebviewPanel(
      VIEW_TYPE,
      `Preview: ${prompt.name}`,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableFindWidget: true },
    );
    const preview = this.adopt(panel, { uri: prompt.uri, name: prompt.name });
    await preview.load();
    return preview;
  }

  /** Brings a panel back after the window was reloaded. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    if (isPrompt(state)) {
      await this.adopt(panel, state).load();
    } else {
      panel.dispose();
    }
  }

  dispose(): void {
    for (const { panel } of this.panels) {
      panel.dispose();
    }
  }

  private adopt(panel: vscode.WebviewPanel, prompt: PromptReference): PreviewPanel {
    const preview = new PreviewPanel(panel, this.extension, this.server, prompt);
    this.panels.add(preview);
    this.last = preview;
    panel.onDidChangeViewState(() => {
      if (panel.active) {
        this.last = preview;
      }
    });
    panel.onDidDispose(() => {
      this.panels.delete(preview);
      this.last = this.last === preview ? [...this.panels].at(-1) : this.last;
      preview.dispose();
    });
    return preview;
  }
}

function samePrompt(a: PromptReference, b: PromptReference): boolean {
  return (
    a.name === b.name && vscode.Uri.parse(a.uri).toString() === vscode.Uri.parse(b.uri).toString()
  );
}

function isPrompt(state: unknown): state is PromptReference {
  const { uri, name } = (state ?? {}) as Partial<PromptReference>;
  return typeof uri === 'string' && typeof name === 'string';
}
