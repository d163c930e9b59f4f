import * as vscode from 'vscode';

import type { Server } from '../server';
import type { PromptReference } from '../wire';
import type { Place } from './messages';
import { PreviewPanel } from './panel';
import { Sessions } from './sessions';

export const VIEW_TYPE = 'foldline.preview';

/**
 * The previews of this window: one panel that shows what is asked for, and those that are locked,
 * each of which keeps its prompt.
 */
export class Previews implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private readonly panels = new Map<vscode.WebviewPanel, PreviewPanel>();
  private readonly locked = new Set<vscode.WebviewPanel>();
  private readonly sessions: Sessions;
  private last: vscode.WebviewPanel | undefined;

  private readonly opened = new vscode.EventEmitter<PreviewPanel>();
  private readonly pointed = new vscode.EventEmitter<{ panel: PreviewPanel; key: string | null }>();
  private readonly scrolled = new vscode.EventEmitter<{ panel: PreviewPanel; place: Place }>();
  readonly onDidOpen = this.opened.event;
  /** The pointer or the focus is on a section of a preview, or has left it. */
  readonly onDidPoint = this.pointed.event;
  readonly onDidScroll = this.scrolled.event;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly server: Server,
  ) {
    this.sessions = new Sessions(server);
    server.titleOf = ({ section_keys, ...prompt }) =>
      this.showing(prompt)?.lensTitle(section_keys?.[0]);
  }

  /** The panel that was looked at last, if it is still there. */
  get latest(): PreviewPanel | undefined {
    return this.last && this.panels.get(this.last);
  }

  /** The panel that has the focus. */
  get active(): PreviewPanel | undefined {
    return [...this.panels.values()].find(({ panel }) => panel.active);
  }

  /** The panel that isn't locked: the next prompt is shown in it. */
  get following(): PreviewPanel | undefined {
    return [...this.panels.values()].find(({ panel }) => !this.locked.has(panel));
  }

  /** The panels that are seen. */
  get visible(): PreviewPanel[] {
    return [...this.panels.values()].filter(({ panel }) => panel.visible);
  }

  /** The panels that show prompts of this module. */
  of(module: vscode.Uri): PreviewPanel[] {
    const uri = module.toString();
    return [...this.panels.values()].filter(
      ({ prompt }) => vscode.Uri.parse(prompt.uri).toString() === uri,
    );
  }

  /** The panel that shows this prompt. */
  showing(prompt: PromptReference): PreviewPanel | undefined {
    return [...this.panels.values()].find((preview) => samePrompt(preview.prompt, prompt));
  }

  /** Shows the prompt in a panel, beside the editor unless said otherwise; the editor keeps the focus. */
  async open(
    prompt: PromptReference,
    viewColumn: vscode.ViewColumn = vscode.ViewColumn.Beside,
  ): Promise<PreviewPanel> {
    const there = this.showing(prompt);
    if (there !== undefined) {
      there.panel.reveal(undefined, true);
      this.looksAt(there.panel);
      return there;
    }
    const free = this.following;
    if (free?.waits) {
      return this.begin(free, { uri: prompt.uri, name: prompt.name });
    }
    if (free !== undefined) {
      return this.turn(free, prompt);
    }
    return this.create(prompt, viewColumn);
  }

  /** Shows another prompt where a panel is, which goes: its folds and its place were the other's. */
  async turn({ panel }: PreviewPanel, prompt: PromptReference): Promise<PreviewPanel> {
    const created = this.create(prompt, panel.viewColumn ?? vscode.ViewColumn.Beside, true);
    panel.dispose();
    return created;
  }

  /** Opens a panel for a prompt that is still looked for in a file, unless one is there already. */
  expect(file: string, viewColumn: vscode.ViewColumn): void {
    if (this.following === undefined) {
      this.make({ uri: '', name: '' }, viewColumn, undefined, file);
    }
  }

  /** Closes the panel whose prompt was not found. */
  giveUp(): void {
    [...this.panels.values()].find(({ waits }) => waits)?.panel.dispose();
  }

  private create(
    { uri, name }: PromptReference,
    viewColumn: vscode.ViewColumn,
    preserveFocus?: boolean,
  ): Promise<PreviewPanel> {
    const prompt = { uri, name };
    return this.begin(this.make(prompt, viewColumn, preserveFocus), prompt);
  }

  private async begin(preview: PreviewPanel, prompt: PromptReference): Promise<PreviewPanel> {
    const loading = preview.begin(prompt);
    this.tell(preview.panel);
    await loading;
    this.opened.fire(preview);
    return preview;
  }

  private make(
    prompt: PromptReference,
    viewColumn: vscode.ViewColumn,
    preserveFocus = viewColumn === vscode.ViewColumn.Beside,
    file = '',
  ): PreviewPanel {
    const panel = vscode.window.createWebviewPanel(
      VIEW_TYPE,
      'Preview',
      { viewColumn, preserveFocus },
      { enableFindWidget: true },
    );
    return this.adopt(panel, prompt, file);
  }

  /** Keeps the prompt of the panel that was looked at last, or lets it go. */
  toggleLock(): void {
    const panel = this.last;
    if (panel === undefined || !this.panels.has(panel)) {
      return;
    }
    if (!this.locked.delete(panel)) {
      this.locked.add(panel);
    }
    this.tell(panel);
  }

  /** Brings a panel back after the window was reloaded. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    if (isPrompt(state)) {
      // There may be several, and only locked ones are more than one.
      if (this.following !== undefined) {
        this.locked.add(panel);
      }
      await this.begin(this.adopt(panel, state), { uri: state.uri, name: state.name });
    } else {
      panel.dispose();
    }
  }

  dispose(): void {
    vscode.Disposable.from(this.sessions, this.opened, this.pointed, this.scrolled).dispose();
    for (const panel of this.panels.keys()) {
      panel.dispose();
    }
  }

  private adopt(panel: vscode.WebviewPanel, prompt: PromptReference, file = ''): PreviewPanel {
    const { extension, server, sessions } = this;
    const preview = new PreviewPanel(panel, extension, server, sessions, prompt, file);
    preview.onDidPoint((key) => this.pointed.fire({ panel: preview, key }));
    preview.onDidScroll((place) => this.scrolled.fire({ panel: preview, place }));
    this.panels.set(panel, preview);
    panel.iconPath = {
      light: vscode.Uri.joinPath(this.extension, 'media', 'preview-light.svg'),
      dark: vscode.Uri.joinPath(this.extension, 'media', 'preview-dark.svg'),
    };
    this.looksAt(panel);
    panel.onDidChangeViewState(() => {
      if (panel.active) {
        this.looksAt(panel);
      }
    });
    panel.onDidDispose(() => {
      this.pointed.fire({ panel: preview, key: null });
      preview.dispose();
      this.panels.delete(panel);
      this.locked.delete(panel);
      if (this.last === panel) {
        this.last = [...this.panels.keys()].at(-1);
      }
    });
    return preview;
  }

  private looksAt(panel: vscode.WebviewPanel): void {
    this.last = panel;
    this.tell(panel);
  }

  /** The title and the menus say whether a panel is locked. */
  private tell(panel: vscode.WebviewPanel): void {
    const isLocked = this.locked.has(panel);
    const name = this.panels.get(panel)?.prompt.name ?? '';
    panel.title = isLocked ? `[Preview] ${name}` : name && `Preview: ${name}`;
    if (panel === this.last) {
      void vscode.commands.executeCommand('setContext', 'foldline.locked', isLocked);
    }
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
