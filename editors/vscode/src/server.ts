// The one server of this window: started, watched, restarted and asked here.

import * as vscode from 'vscode';
import {
  CloseAction,
  CodeLensRequest,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
} from 'vscode-languageclient/node';

import { chosenInterpreter, expandFolder } from './interpreter';
import { hasOutline, instructionGlobs } from './instructionFiles';
import { findServer, isInside, otherCommand, type Launch } from './launch';
import { ServerProcess } from './process';
import { setValues } from './settings';
import type { Asked } from './commands/openSection';
import type { Preview, PromptReference } from './wire';

export type ServerState =
  | { kind: 'starting' }
  | { kind: 'running'; version: string; origin: string }
  | { kind: 'stopped'; reason: string };

interface Plan {
  launch: Launch | null;
  interpreter: string | null;
  renderDeadline: number;
  /** Globs of the files that instruct agents. */
  instructions: string[];
}

/** No server is on this machine, as far as was looked: it has to be installed, not restarted. */
export class ServerMissing extends Error {
  constructor() {
    super('No foldline server was found: neither in an environment of the folder, nor on PATH');
  }
}

/** A crash this soon after another is not answered with a restart: it would only crash again. */
const CRASH_WINDOW_MS = 60_000;
/** Unless this is `never`, VS Code's own Markdown changes the links of files after they move. */
const MARKDOWN_LINKS = 'markdown.updateLinksOnFileMove.enabled';

export class Server implements vscode.Disposable {
  private readonly stateChanged = new vscode.EventEmitter<ServerState>();
  private readonly previewUpdated = new vscode.EventEmitter<Preview>();
  readonly onDidChangeState = this.stateChanged.event;
  readonly onDidUpdatePreview = this.previewUpdated.event;
  /** The title of a lens, if more is known of its prompt than its source says. */
  titleOf: (asked: PromptReference & Partial<Asked>) => string | undefined = () => undefined;

  private current: ServerState = { kind: 'stopped', reason: 'Nothing has needed the server yet.' };
  private client: LanguageClient | undefined;
  private process: ServerProcess | undefined;
  private plan: Plan = { launch: null, interpreter: null, renderDeadline: 0, instructions: [] };
  private isNeeded = false;
  private turn: Promise<void> = Promise.resolve();
  private lastCrash = -Infinity;

  constructor(
    readonly log: vscode.LogOutputChannel,
    /** The program of the server that the extension's package may bring. */
    private readonly bundled: string,
  ) {}

  get state(): ServerState {
    return this.current;
  }

  /** Whether anything has asked for the server: until then there is none, and nothing to say. */
  get needed(): boolean {
    return this.isNeeded;
  }

  /** Whether a server was looked for and is not there; it may be, after any wait. */
  isMissing(): boolean {
    return this.isNeeded && this.current.kind === 'stopped' && this.plan.launch === null;
  }

  /** Starts the server, ending the one that runs. The only way a server is ever started. */
  restart(why: string): Promise<void> {
    this.isNeeded = true;
    this.turn = this.turn.then(() => this.replace(why));
    return this.turn;
  }

  /** Starts the server unless something has needed it before. */
  need(why: string): Promise<void> {
    return this.isNeeded ? this.turn : this.restart(why);
  }

  /** Restarts only when another server or interpreter would be chosen now. */
  async reconsider(why: string): Promise<void> {
    await this.turn;
    // What is looked for time and again, because it is missing, would fill the log.
    const note = this.isMissing() ? 'debug' : 'info';
    if (this.isNeeded && !samePlan(this.plan, await this.choose(note))) {
      await this.restart(why);
    }
  }

  /** The server's program, to run another command of; null when it isn't there, or isn't foldline. */
  async program(args: readonly string[]): Promise<Launch | null> {
    await this.turn;
    const { launch } = this.isNeeded ? this.plan : await this.choose('debug');
    return launch && otherCommand(launch, args);
  }

  /** Tells the server, and everybody who waits for it, that the folder is trusted now. */
  async trustGranted(): Promise<void> {
    await this.reconsider('the folder is trusted now');
    await this.client?.sendNotification('foldline/didChangeTrust', { trusted: true });
    this.become(this.current);
  }

  /** The answer of a server command. */
  async execute<T>(command: string, argument?: object): Promise<T> {
    await this.need(`${command} was asked for`);
    if (this.isMissing()) {
      throw new ServerMissing();
    }
    if (this.client === undefined || this.current.kind !== 'running') {
      throw new Error(
        this.current.kind === 'stopped' ? this.current.reason : 'The server is starting.',
      );
    }
    return this.client.sendRequest<T>('workspace/executeCommand', {
      command: `foldline.server.${command}`,
      arguments: argument === undefined ? [] : [argument],
    });
  }

  /** Asks for the lenses anew. */
  refreshLenses(document: vscode.TextDocument): void {
    const feature = this.client?.getFeature(CodeLensRequest.method);
    feature?.getProvider(document)?.onDidChangeCodeLensEmitter.fire();
  }

  async stop(): Promise<void> {
    this.turn = this.turn.then(() => this.end());
    await this.turn;
  }

  dispose(): void {
    void this.stop();
    this.stateChanged.dispose();
    this.previewUpdated.dispose();
  }

  private async replace(why: string): Promise<void> {
    this.log.info(`Starting the server: ${why}`);
    await this.end();
    this.become({ kind: 'starting' });
    try {
      this.plan = await this.choose('info');
      if (this.plan.launch === null) {
        // Whoever asked for it says what can be done: a command, or a file that needs it.
        const reason = new ServerMissing().message;
        this.log.warn(reason);
        this.become({ kind: 'stopped', reason });
        return;
      }
      await this.begin(this.plan.launch, this.plan);
    } catch (error) {
      await this.end();
      this.stopped(error instanceof Error ? error.message : String(error));
    }
  }

  private async choose(note: 'info' | 'debug'): Promise<Plan> {
    const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
    const trusted = vscode.workspace.isTrusted;
    const settings = vscode.workspace.getConfiguration('foldline');
    const interpreter = await chosenInterpreter(this.log);
    const launch = await findServer({
      setting: settings.get<string[]>('server.command', []).map(expandFolder),
      interpreter,
      searchPath: process.env.PATH ?? '',
      folders,
      trusted,
      bundled: this.bundled,
      log: (line) => this.log[note](line),
    });
    const usable = interpreter !== null && (trusted || !isInside(interpreter, folders));
    return {
      launch,
      interpreter: usable ? interpreter : null,
      renderDeadline: settings.get<number>('server.renderDeadline', 10),
      instructions: instructionGlobs(),
    };
  }

  private async begin(
    launch: Launch,
    { interpreter, renderDeadline, instructions }: Plan,
  ): Promise<void> {
    this.log.info(`From ${launch.origin}: ${[launch.command, ...launch.args].join(' ')}`);
    const started = await ServerProcess.start(launch, (line) => this.log.info(`[server] ${line}`));
    this.process = started;
    this.log.info(`The server runs as process ${started.pid}`);
    const client = new LanguageClient(
      'foldline',
      'foldline',
      // `detached` keeps the library from ending the process: `end` does, and waits for it.
      () => Promise.resolve({ process: started.child, detached: true }),
      {
        documentSelector: [
          { scheme: 'file', language: 'python' },
          { scheme: 'untitled', language: 'python' },
          ...instructions.map((pattern) => ({ scheme: 'file', pattern })),
        ],
        outputChannel: this.log,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        initializationOptions: {
          trusted: vscode.workspace.isTrusted,
          interpreter,
          client_commands: ['preview', 'openSection', 'closeSection', 'outline'].map(
            (name) => `foldline.${name}`,
          ),
          render_deadline: renderDeadline,
        },
        // What the server shows and checks; how it starts is told to it once, above.
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- the server registers for no changes
        synchronize: { configurationSection: 'foldline' },
        middleware: {
          provideDocumentSymbols: (document, token, next) =>
            hasOutline(document) ? undefined : next(document, token),
          provideFoldingRanges: (document, context, token, next) =>
            hasOutline(document) ? undefined : next(document, context, token),
          resolveCodeLens: async (lens, token, next) => {
            const resolved = await next(lens, token);
            const [asked] = (resolved?.command?.arguments ?? []) as Asked[];
            const title = asked && this.titleOf(asked);
            if (resolved?.command && title !== undefined) {
              resolved.command = { ...resolved.command, title, tooltip: '' };
            }
            return resolved;
          },
          workspace: {
            configuration: ({ items }) =>
              items.map(({ section }) => (section === 'foldline' ? setValues() : null)),
            willRenameFiles: async (event, next) => {
              const edit = await next(event);
              const own = vscode.workspace.getConfiguration().get<string>(MARKDOWN_LINKS, 'never');
              if (edit && own !== 'never') {
                // It reads the moved files' own links from where they were.
                for (const [uri] of edit.entries()) {
                  const moved = event.files.some(({ oldUri }) =>
                    `${uri.path}/`.startsWith(`${oldUri.path}/`),
                  );
                  if (moved) {
                    edit.set(uri, []);
                  }
                }
              }
              return edit;
            },
          },
        },
        // The server's standard error is read by ServerProcess, which keeps its last line.
        stdioOptions: { stdout: () => undefined, stderr: () => undefined },
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
        },
      },
    );
    this.client = client;
    client.onNotification('foldline/preview/didUpdate', (update: Preview) =>
      this.previewUpdated.fire(update),
    );
    const endedFirst = started.ended.then((how) => {
      throw new Error(`The server ${how}`);
    });
    await Promise.race([client.start(), endedFirst]);
    void started.ended.then((how) => this.crashed(started, `The server ${how}`));
    const info = client.initializeResult?.serverInfo;
    this.become({ kind: 'running', version: info?.version ?? '', origin: launch.origin });
  }

  private async crashed(gone: ServerProcess, reason: string): Promise<void> {
    if (this.process !== gone) {
      return;
    }
    const soon = Date.now() - this.lastCrash < CRASH_WINDOW_MS;
    this.lastCrash = Date.now();
    if (soon) {
      this.turn = this.turn.then(() => this.end());
      await this.turn;
      this.stopped(`${reason} twice within a minute`);
    } else {
      await this.restart(reason);
    }
  }

  /** Ends the client and its process; afterwards there is neither. */
  private async end(): Promise<void> {
    const { client, process: running } = this;
    this.client = undefined;
    this.process = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      this.log.info(`The server did not shut down by itself: ${String(error)}`);
    }
    await running?.stop();
  }

  private stopped(reason: string): void {
    this.become({ kind: 'stopped', reason });
    this.log.error(reason);
    void vscode.window
      .showErrorMessage(`foldline: ${reason}`, 'Restart Server', 'Show Log')
      .then((choice) => {
        if (choice === 'Restart Server') {
          void this.restart('asked for');
        } else if (choice === 'Show Log') {
          this.log.show();
        }
      });
  }

  private become(state: ServerState): void {
    this.current = state;
    this.stateChanged.fire(state);
  }
}

function samePlan(a: Plan, b: Plan): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
