// One prompt's preview: a webview, the server's session behind it, and what was opened in it.

import * as vscode from 'vscode';

import { promptDocument } from '../commands/openDocument';
import { failureOf, messageOf } from '../failure';
import type { Server } from '../server';
import { counted, ifOpened } from '../webview/numbers';
import type {
  Block,
  Comparison,
  Location,
  Occurrence,
  Preview,
  PromptReference,
  Stale,
  TextOrigin,
} from '../wire';
import { pageOf } from './html';
import type {
  About,
  AnyAction,
  Choices,
  FromPage,
  Notice,
  NoticeAction,
  Place,
  ToPage,
} from './messages';
import { Blocks } from './model';
import { failureNotice, loadingNotice, serverNotice } from './notices';
import type { Sessions } from './sessions';
import { staleNotice } from './stale';

/** Where something went wrong: a file, and its line counted from 1. */
type Problem = Pick<Stale, 'file' | 'line'>;

/** Characters of a document: where the first is, and how many code points there are. */
export interface Traced {
  source: string;
  line: number;
  character: number;
  size: number;
}

/** With which side the text that is shown now is compared. */
export interface Compared {
  before?: number;
  revision?: string;
}

/** After this much quiet a preview that never rendered is tried again. */
const RETRY_AFTER_MS = 400;

export class PreviewPanel implements vscode.Disposable {
  readonly blocks = new Blocks();
  private readonly scrolled = new vscode.EventEmitter<Place>();
  private readonly pointed = new vscode.EventEmitter<string | null>();
  readonly onDidScroll = this.scrolled.event;
  /** The section that the pointer or the focus is on. */
  readonly onDidPoint = this.pointed.event;
  private readonly toDispose: { dispose(): unknown }[] = [];
  private session: string | null = null;
  private attempt = 0;
  private fidelity = '';
  private about: Partial<About> = {};
  /** What was chosen in the panel before the window was reloaded, until it is chosen again. */
  private wanted: Choices | null = null;
  private seen = false;
  private notice: Notice | null;
  private problem: Problem | null = null;
  private retry: NodeJS.Timeout | undefined;
  private marked: string | null = null;
  private traced: { at: Traced; reveal: boolean } | null = null;
  private tracing = false;

  constructor(
    readonly panel: vscode.WebviewPanel,
    private readonly extension: vscode.Uri,
    private readonly server: Server,
    private readonly sessions: Sessions,
    /** Until it is known, there is a line that says whose prompt is looked for. */
    private shown: PromptReference,
    private readonly file: string,
  ) {
    this.notice = this.loading();
    panel.webview.options = {
      enableScripts: true,
      localResourceRoots: [
        vscode.Uri.joinPath(extension, 'out'),
        vscode.Uri.joinPath(extension, 'media'),
      ],
    };
    this.toDispose.push(
      this.scrolled,
      this.pointed,
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

  /** The server's preview; null while there is none. */
  get sessionId(): string | null {
    return this.session;
  }

  /** The names of the sets of values that it can show. */
  get sets(): string[] {
    return (this.about.parameter_sets ?? []).map(({ name }) => name);
  }

  /** Whether it has no prompt yet. */
  get waits(): boolean {
    return this.shown.name === '';
  }

  /** Shows its prompt, which is known now. */
  begin(prompt: PromptReference): Promise<void> {
    this.shown = prompt;
    this.notice = this.loading();
    this.show([], false);
    return this.load();
  }

  /** Asks the server for the preview, and opens again what was open. */
  async load(): Promise<void> {
    if (this.waits) {
      return;
    }
    const attempt = ++this.attempt;
    const { wanted } = this;
    if (this.session !== null) {
      this.sessions.leave(this.session);
      this.session = null;
    }
    try {
      const { uri, name } = this.shown;
      const started = await this.server.execute<Preview>('prompt.preview', { uri, name });
      const preview = await this.restored(started, wanted ?? this.chosen);
      if (attempt !== this.attempt) {
        this.sessions.leave(preview.sessionId);
        return;
      }
      if (preview.stale !== null && preview.order.length === 0 && this.blocks.order.length > 0) {
        // The text that is here, and what is open in it, stay until the prompt renders again.
        this.sessions.leave(preview.sessionId);
        this.notice = staleNotice(preview.stale, true, this.fidelity, this.shown.uri);
        this.problem = preview.stale;
        this.show([], false);
        return;
      }
      this.session = preview.sessionId;
      this.shown = { uri: preview.uri, name: preview.name };
      this.update(preview);
      if (this.wanted === wanted) {
        this.wanted = null;
      } else {
        // The page has told in between what it knows from before.
        await this.load();
      }
    } catch (error) {
      if (attempt === this.attempt) {
        this.failed(error);
      }
    }
  }

  /** What a lens says of the prompt, or of a section, where it was run from the very source. */
  lensTitle(key: string | undefined): string | undefined {
    const { tokens, documentVersion, cache = null } = this.about;
    if (this.fidelity !== 'executed' || this.problem || documentVersion !== this.source?.version) {
      return undefined;
    }
    const blocks = this.blocks.all();
    if (key === undefined) {
      const folded = blocks.filter(({ visibility }) => visibility === 'SUMMARY').length;
      const words = ['Preview', tokens?.words[0], folded > 0 && `${folded} summarized`];
      return tokens ? words.filter(Boolean).join(' · ') : undefined;
    }
    const costs = blocks.find((block) => block.key === key)?.tokens;
    return costs?.if_opened
      ? `Open · ${counted(costs.self, 'token')}, ${ifOpened(costs.if_opened, cache)}`
      : undefined;
  }

  /** Opens those of the sections that are not open yet. */
  async openClosed(keys: string[]): Promise<void> {
    const open = this.blocks.all().filter((block) => block.visibility !== 'SUMMARY');
    const closed = keys.filter((key) => !open.some((block) => block.key === key));
    // Without a session the notice says why nothing can be opened.
    if (this.session !== null && closed.length > 0) {
      try {
        await this.change('openSections', { section_keys: closed });
      } catch (error) {
        void vscode.window.showErrorMessage(`foldline: ${messageOf(error)}`);
      }
    }
  }

  /** Marks the section that the cursor is in, and shows it if it has to be in view. */
  mark(key: string | null, reveal: boolean): void {
    if (key !== this.marked) {
      this.marked = key;
      this.post({ type: 'mark', key, reveal });
    }
  }

  /** Marks what comes from characters of the source, now and after each change. */
  async trace(at: Traced, reveal: boolean): Promise<void> {
    this.traced = { at, reveal };
    if (this.tracing || this.session === null) {
      return; // The one that is asked for goes on with the newest.
    }
    this.tracing = true;
    try {
      let asked;
      let parts: Occurrence[] = [];
      while (asked !== this.traced) {
        asked = this.traced;
        parts = await this.ask('occurrences', asked.at);
      }
      this.post({ type: 'characters', parts, reveal: asked.reveal });
    } finally {
      this.tracing = false;
    }
  }

  scrollTo(place: Place): void {
    this.post({ type: 'scroll', place });
  }

  dispose(): void {
    this.attempt++;
    clearTimeout(this.retry);
    vscode.Disposable.from(...this.toDispose).dispose();
    if (this.session !== null) {
      this.sessions.leave(this.session);
    }
  }

  /** What is chosen now, to choose it again in another session. */
  private get chosen(): Choices {
    return {
      opened: this.blocks
        .all()
        .filter((block) => block.opened)
        .map((block) => block.key),
      closed: (this.about.chapters ?? [])
        .filter(({ open, may_open }) => may_open && !open)
        .map(({ key }) => key),
      params: this.about.params ?? {},
      parameter_set: this.about.parameter_set ?? null,
    };
  }

  /** The preview with these choices, shown only then: the reader sees no flicker. */
  private async restored(preview: Preview, chosen: Choices): Promise<Preview> {
    const { opened: section_keys, closed = [], params, parameter_set } = chosen;
    const set = parameter_set === preview.parameter_set ? {} : { parameter_set };
    const begun = preview.chapters.filter(({ open }) => open).map(({ key }) => key);
    const chapters = closed.filter((key) => begun.includes(key));
    let restored = preview;
    const attempt = async (command: string, values: object): Promise<void> => {
      try {
        restored = await this.ask(command, values, preview.sessionId);
      } catch (error) {
        // What was chosen may be gone from the prompt by now.
        this.server.log.info(`${JSON.stringify(values)} is not restored: ${messageOf(error)}`);
      }
    };
    if (Object.keys(params).length > 0 || (parameter_set && 'parameter_set' in set)) {
      await attempt('setParams', { params, ...set });
    }
    if (chapters.length > 0) {
      await attempt('closeSections', { section_keys: [], chapters });
    }
    if (section_keys.length > 0) {
      await attempt('openSections', { section_keys });
    }
    return restored;
  }

  private ask<T = Preview>(
    command: string,
    values: object = {},
    session = this.session,
  ): Promise<T> {
    if (session === null) {
      throw new Error(this.notice?.text ?? 'The prompt is not shown yet.');
    }
    return this.server.execute<T>(`prompt.${command}`, { sessionId: session, ...values });
  }

  /** Runs a command on this preview, and shows what it answers. */
  async change(command: string, values: object = {}): Promise<void> {
    this.update(await this.ask(command, values));
  }

  private update(update: Preview): void {
    if (update.sessionId !== this.session) {
      return;
    }
    this.blocks.apply(update.order, update.blocks);
    this.fidelity = update.fidelity;
    this.about = aboutOf(update);
    this.problem = update.stale;
    this.notice =
      update.stale &&
      staleNotice(update.stale, this.blocks.order.length > 0, update.fidelity, update.uri);
    this.show(update.blocks, false);
    if (this.traced !== null) {
      this.trace(this.traced.at, false).catch(() => undefined);
    }
    if (this.source !== undefined) {
      this.server.refreshLenses(this.source);
    }
  }

  private loading(): Notice {
    return loadingNotice(this.shown.name || this.file, vscode.workspace.isTrusted);
  }

  private failed(error: unknown): void {
    this.notice =
      serverNotice(this.server.state) ?? failureNotice(error, this.blocks.order.length > 0);
    const failure = failureOf(error);
    this.problem = { file: failure?.file ?? null, line: failure?.line ?? null };
    this.show([], false);
  }

  private serverChanged(): void {
    const notice = serverNotice(this.server.state);
    if (notice === null && !this.waits) {
      this.notice = null;
      void this.load();
    } else {
      this.session = null;
      this.notice = notice ?? this.loading();
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

  private get source(): vscode.TextDocument | undefined {
    const uri = this.uri.toString();
    return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri);
  }

  private get uri(): vscode.Uri {
    return vscode.Uri.parse(this.shown.uri);
  }

  private show(blocks: Block[], whole: boolean): void {
    this.post({
      type: 'view',
      view: {
        ...this.shown,
        ...this.about,
        fidelity: this.fidelity,
        order: [...this.blocks.order],
        blocks,
        whole,
        notice: this.notice,
      },
    });
  }

  private post(message: ToPage): void {
    void this.panel.webview.postMessage(message);
  }

  private receive(message: FromPage): void {
    switch (message.type) {
      case 'ready':
        this.ready(message.chosen);
        break;
      case 'request':
        void this.answer(message.id, message.action);
        break;
      case 'pointed':
        this.pointed.fire(message.key);
        break;
      case 'scrolled':
        this.scrolled.fire(message.place);
        break;
    }
  }

  /** A page that was hidden meanwhile shows what is chosen; a new one may know it from before. */
  private ready(chosen: Choices | null): void {
    this.wanted = this.seen ? null : chosen;
    this.seen = true;
    this.show(this.blocks.all(), true);
    this.post({ type: 'mark', key: this.marked, reveal: false });
    if (this.wanted !== null && this.session !== null) {
      void this.load();
    }
  }

  private async answer(id: number, action: AnyAction): Promise<void> {
    try {
      this.post({ type: 'response', id, value: await this.perform(action) });
    } catch (error) {
      this.post({ type: 'refusal', id, reason: messageOf(error) });
    }
  }

  private async perform(action: AnyAction): Promise<unknown> {
    switch (action.action) {
      case 'openSections':
      case 'closeSections': {
        const { action: command, key, ...values } = action;
        return this.change(command, { section_keys: key === undefined ? [] : [key], ...values });
      }
      case 'setParams':
      case 'undo':
      case 'reset': {
        const { action: command, ...values } = action;
        return this.change(command, values);
      }
      case 'history':
      case 'compareSets':
      case 'diff':
      case 'occurrences': {
        const { action: command, ...values } = action;
        return this.ask(command, values);
      }
      case 'readSection':
        return this.ask('readSection', { section_key: action.key });
      case 'render':
        return this.ask('render', { params: action.params, parameter_set: action.key });
      case 'reveal':
        return this.reveal(action.key);
      case 'goToOrigin':
        return this.origin(action.key, action.offset, action.place);
      case 'go':
        return revealLine(action.file, action.line);
      case 'notice':
        return this.act(action.id);
      case 'copy':
        return vscode.env.clipboard.writeText(action.text);
      case 'document':
        return vscode.window.showTextDocument(this.document(), {
          viewColumn: vscode.ViewColumn.Beside,
        });
      case 'compare':
        return this.compare(action);
    }
  }

  private async reveal(key: string): Promise<void> {
    const location = this.blocks.all().find((block) => block.key === key)?.location;
    if (location) {
      await reveal(location);
    }
  }

  /** Shows a place that a character comes from, and answers all of them. */
  private async origin(section_key: string, offset: number, place: number): Promise<TextOrigin> {
    const found = await this.ask<TextOrigin>('origin', { section_key, offset });
    const location = found.places[place]?.location;
    if (location) {
      await reveal(location);
    }
    return found;
  }

  /** The text that is shown, an earlier version or that of a revision, as a document. */
  private document(side: Record<string, string> = {}): vscode.Uri {
    if (this.session === null) {
      throw new Error(this.notice?.text ?? 'The prompt is not shown yet.');
    }
    return promptDocument(this.shown, { session: this.session, ...side });
  }

  /**
   * Shows the editor's comparison with an earlier version or a revision of git; where both are the
   * same text, says so instead. What git does not have is refused.
   */
  async compare({ before, revision }: Compared): Promise<string | undefined> {
    const side: Record<string, string> =
      revision === undefined ? { version: String(before ?? 1) } : { revision };
    const found = await this.ask<Comparison>('diff', { before, revision });
    if (found.unified === '') {
      return `${found.before} and now are the same text. ${found.caveat}`.trim();
    }
    const set = this.about.parameter_set;
    const values = revision !== undefined && set ? ` (${set})` : '';
    const title = `${this.shown.name}${values}: ${found.before} ↔ now`;
    await vscode.commands.executeCommand(
      'vscode.diff',
      this.document(side),
      this.document(),
      title,
    );
    return found.caveat || undefined;
  }

  private async act(action: NoticeAction): Promise<void> {
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
      case 'chooseInterpreter':
        await vscode.commands.executeCommand('foldline.selectInterpreter');
        break;
    }
  }
}

/** What the page shows besides the blocks, and what belongs to the panel. */
function aboutOf(update: Preview): About {
  const others = ['sessionId', 'version', 'uri', 'name', 'fidelity', 'order', 'blocks', 'stale'];
  const about = Object.entries(update).filter(([field]) => !others.includes(field));
  return Object.fromEntries(about) as unknown as About;
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
