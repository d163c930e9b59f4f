// One prompt's preview: a webview, the server's session behind it, and what was opened in it.

import * as vscode from 'vscode';

import { failureOf, messageOf } from '../failure';
import type { Server } from '../server';
import type {
  Block,
  CachePlan,
  Effect,
  Kept,
  Location,
  Preview,
  PromptReference,
  Stale,
  Tokens,
} from '../wire';
import { pageOf } from './html';
import type { Action, FromPage, Notice, ToPage } from './messages';
import { Blocks } from './model';
import { LOADING, failureNotice, serverNotice } from './notices';
import { staleNotice } from './stale';

/** Where something went wrong: a file, and its line counted from 1. */
type Problem = Pick<Stale, 'file' | 'line'>;

/** After this much quiet a preview that never rendered is tried again. */
const RETRY_AFTER_MS = 400;

export class PreviewPanel implements vscode.Disposable {
  readonly blocks = new Blocks();
  private readonly toDispose: vscode.Disposable[] = [];
  private session: string | null = null;
  private attempt = 0;
  private fidelity = '';
  private tools: Preview['tools'] = [];
  private tokens: Tokens | null = null;
  private kept: Kept | null = null;
  private cache: CachePlan | null = null;
  private effects: Effect[] = [];
  private notice: Notice | null = LOADING;
  private problem: Problem | null = null;
  private retry: NodeJS.Timeout | undefined;

  constructor(
    readonly panel: vscode.WebviewPanel,
    private readonly extension: vscode.Uri,
    private readonly server: Server,
    private shown: PromptReference,
  ) {
    panel.title = `Preview: ${shown.name}`;
    panel.webview.options = {
      enableScripts: true,
      localResourceRoots: [
        vscode.Uri.joinPath(extension, 'out'),
        vscode.Uri.joinPath(extension, 'media'),
      ],
    };
    this.toDispose.push(
      panel.webview.onDidReceiveMessage((message: FromPage) => this.receive(message)),
      server.onDidUpdatePreview((update) => this.update(update)),
      server.onDidChangeState(() => this.serverChanged()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.edited(document)),
    );
    panel.webview.html = pageOf(panel.webview, this.extension);
  }

  get prompt(): PromptReference {
    return this.shown;
  }

  /** Asks the server for the preview, and opens again what was open. */
  async load(): Promise<void> {
    const attempt = ++this.attempt;
    const reopen = this.blocks.all().filter((block) => block.opened);
    if (this.session !== null) {
      void this.leave(this.session);
      this.session = null;
    }
    try {
      const { uri, name } = this.shown;
      const started = await this.server.execute<Preview>('prompt.preview', { uri, name });
      const preview = await this.reopened(
        started,
        reopen.map((block) => block.key),
      );
      if (attempt !== this.attempt) {
        await this.leave(preview.sessionId);
        return;
      }
      if (preview.stale !== null && preview.order.length === 0 && this.blocks.order.length > 0) {
        // The text that is here, and what is open in it, stay until the prompt renders again.
        void this.leave(preview.sessionId);
        this.notice = staleNotice(preview.stale, true, this.fidelity);
        this.problem = preview.stale;
        this.show([], false);
        return;
      }
      this.session = preview.sessionId;
      this.shown = { uri: preview.uri, name: preview.name };
      this.update(preview);
    } catch (error) {
      if (attempt === this.attempt) {
        this.failed(error);
      }
    }
  }

  /** Opens those of the sections that are not open yet. */
  async openClosed(keys: string[]): Promise<void> {
    const open = this.blocks.all().filter((block) => block.visibility !== 'SUMMARY');
    const closed = keys.filter((key) => !open.some((block) => block.key === key));
    // Without a session the notice says why nothing can be opened.
    if (this.session !== null && closed.length > 0) {
      await this.changeSections('open', closed);
    }
  }

  private async changeSections(change: 'open' | 'close', keys: string[]): Promise<void> {
    try {
      this.update(await this.ask(change, this.session, keys));
    } catch (error) {
      void vscode.window.showErrorMessage(`foldline: ${messageOf(error)}`);
    }
    for (const key of keys) {
      this.post({ type: 'settled', key });
    }
  }

  dispose(): void {
    this.attempt++;
    clearTimeout(this.retry);
    vscode.Disposable.from(...this.toDispose).dispose();
    if (this.session !== null) {
      void this.leave(this.session);
    }
  }

  /** The preview with these sections open again, shown only then: the reader sees no flicker. */
  private async reopened(preview: Preview, keys: string[]): Promise<Preview> {
    if (keys.length === 0) {
      return preview;
    }
    try {
      return await this.ask('open', preview.sessionId, keys);
    } catch (error) {
      // What was open may be gone from the prompt by now.
      this.server.log.info(`${keys.join(', ')} stay closed: ${messageOf(error)}`);
      return preview;
    }
  }

  private ask(change: 'open' | 'close', session: string | null, keys: string[]): Promise<Preview> {
    const command = change === 'open' ? 'prompt.openSections' : 'prompt.closeSections';
    return this.server.execute<Preview>(command, { sessionId: session, section_keys: keys });
  }

  private update(update: Preview): void {
    if (update.sessionId !== this.session) {
      return;
    }
    this.blocks.apply(update.order, update.blocks);
    this.fidelity = update.fidelity;
    this.tools = update.tools;
    this.tokens = update.tokens;
    this.kept = update.kept;
    this.cache = update.cache;
    this.problem = update.stale;
    this.effects = update.effects;
    this.notice =
      update.stale && staleNotice(update.stale, this.blocks.order.length > 0, update.fidelity);
    this.show(update.blocks, false);
  }

  private failed(error: unknown): void {
    this.notice =
      serverNotice(this.server.state) ?? failureNotice(error, this.blocks.order.length > 0);
    const failure = failureOf(error);
    this.problem = { file: failure?.file ?? null, line: failure?.line ?? null };
    this.show([], false);
  }

  private serverChanged(): void {
    this.notice = serverNotice(this.server.state);
    if (this.notice === null) {
      void this.load();
    } else {
      this.session = null;
      this.show([], false);
    }
  }

  /** A preview with a session is kept up to date by the server; one without has to be tried again. */
  private edited(document: vscode.TextDocument): void {
    if (this.session !== null || document.uri.toString() !== this.uri.toString()) {
      return;
    }
    clearTimeout(this.retry);
    this.retry = setTimeout(() => void this.load(), RETRY_AFTER_MS);
  }

  private get uri(): vscode.Uri {
    return vscode.Uri.parse(this.shown.uri);
  }

  private show(blocks: Block[], whole: boolean): void {
    this.post({
      type: 'view',
      view: {
        ...this.shown,
        fidelity: this.fidelity,
        order: [...this.blocks.order],
        blocks,
        whole,
        tools: this.tools,
        tokens: this.tokens,
        kept: this.kept,
        cache: this.cache,
        effects: this.effects,
        notice: this.notice,
      },
    });
  }

  private post(message: ToPage): void {
    void this.panel.webview.postMessage(message);
  }

  private async leave(session: string): Promise<void> {
    try {
      await this.server.execute('prompt.closePreview', { sessionId: session });
    } catch (error) {
      // A server that is gone has closed the session with everything else.
      this.server.log.debug(`closePreview: ${messageOf(error)}`);
    }
  }

  private receive(message: FromPage): void {
    switch (message.type) {
      case 'ready':
        this.show(this.blocks.all(), true);
        break;
      case 'open':
      case 'close':
        void this.changeSections(message.type, [message.key]);
        break;
      case 'reveal': {
        const location = this.blocks.get(message.id)?.location;
        if (location) {
          void reveal(location);
        }
        break;
      }
      case 'action':
        void this.act(message.id);
        break;
    }
  }

  private async act(action: Action): Promise<void> {
    switch (action) {
      case 'revealProblem':
        if (this.problem?.file) {
          await revealLine(this.problem.file, this.problem.line ?? 1);
        }
        break;
      case 'reload':
        await this.load();
        break;
      case 'restart':
        await vscode.commands.executeCommand('foldline.restartServer');
        break;
      case 'showLog':
        await vscode.commands.executeCommand('foldline.showLog');
        break;
      case 'trust':
        await vscode.commands.executeCommand('workbench.trust.manage');
        break;
    }
  }
}

async function reveal({ uri, range }: Location): Promise<void> {
  const start = new vscode.Position(range.start.line, range.start.character);
  await showAt(vscode.Uri.parse(uri), start);
}

async function revealLine(file: string, line: number): Promise<void> {
  const uri = /^[a-z][a-z+.-]+:/i.test(file) ? vscode.Uri.parse(file) : vscode.Uri.file(file);
  await showAt(uri, new vscode.Position(line - 1, 0));
}

async function showAt(uri: vscode.Uri, position: vscode.Position): Promise<void> {
  const beside = vscode.window.visibleTextEditors.find(
    (editor) => editor.document.uri.toString() === uri.toString(),
  );
  await vscode.window.showTextDocument(uri, {
    viewColumn: beside?.viewColumn ?? vscode.ViewColumn.One,
    selection: new vscode.Range(position, position),
  });
}
