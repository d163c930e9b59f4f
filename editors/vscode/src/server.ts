// The one server of this window: started, watched, restarted and asked here.

import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
} from 'vscode-languageclient/node';

import { chosenInterpreter, expandFolder } from './interpreter';
import { findServer, isInside, type Launch } from './launch';
import { ServerProcess } from './process';
import type { Preview } from './wire';

export type ServerState =
  | { kind: 'starting' }
  | { kind: 'running'; version: string; origin: string }
  | { kind: 'stopped'; reason: string };

interface Plan {
  launch: Launch | null;
  interpreter: string | null;
}

const NOT_FOUND =
  'No foldline server was found. Install it with pip install "foldline[server]" in the chosen ' +
  'interpreter, or set foldline.server.command.';

/** A crash this soon after another is not answered with a restart: it would only crash again. */
const CRASH_WINDOW_MS = 60_000;

export class Server implements vscode.Disposable {
  private readonly stateChanged = new vscode.EventEmitter<ServerState>();
  private readonly previewUpdated = new vscode.EventEmitter<Preview>();
  readonly onDidChangeState = this.stateChanged.event;
  readonly onDidUpdatePreview = this.previewUpdated.event;

  private current: ServerState = { kind: 'stopped', reason: 'The server has not been started.' };
  private client: LanguageClient | undefined;
  private process: ServerProcess | undefined;
  private plan: Plan = { launch: null, interpreter: null };
  private turn: Promise<void> = Promise.resolve();
  private lastCrash = -Infinity;

  constructor(readonly log: vscode.LogOutputChannel) {}

  get state(): ServerState {
    return this.current;
  }

  /** Starts the server, ending the one that runs. The only way a server is ever started. */
  restart(why: string): Promise<void> {
    this.turn = this.turn.then(() => this.replace(why));
    return this.turn;
  }

  /** Restarts only when another server or interpreter would be chosen now. */
  async reconsider(why: string): Promise<void> {
    await this.turn;
    if (!samePlan(this.plan, await this.choose())) {
      await this.restart(why);
    }
  }

  /** Tells the server, and everybody who waits for it, that the folder is trusted now. */
  async trustGranted(): Promise<void> {
    await this.reconsider('the folder is trusted now');
    await this.client?.sendNotification('foldline/didChangeTrust', { trusted: true });
    this.become(this.current);
  }

  /** The answer of a server command. */
  async execute<T>(command: string, argument?: object): Promise<T> {
    await this.turn;
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
      this.plan = await this.choose();
      if (this.plan.launch === null) {
        throw new Error(NOT_FOUND);
      }
      await this.begin(this.plan.launch, this.plan.interpreter);
    } catch (error) {
      await this.end();
      this.stopped(error instanceof Error ? error.message : String(error));
    }
  }

  private async choose(): Promise<Plan> {
    const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
    const trusted = vscode.workspace.isTrusted;
    const interpreter = await chosenInterpreter(this.log);
    const launch = await findServer({
      setting: vscode.workspace
        .getConfiguration('foldline')
        .get<string[]>('server.command', [])
        .map(expandFolder),
      interpreter,
      searchPath: process.env.PATH ?? '',
      folders,
      trusted,
      log: (line) => this.log.info(line),
    });
    const usable = interpreter !== null && (trusted || !isInside(interpreter, folders));
    return { launch, interpreter: usable ? interpreter : null };
  }

  private async begin(launch: Launch, interpreter: string | null): Promise<void> {
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
        ],
        outputChannel: this.log,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        initializationOptions: {
          trusted: vscode.workspace.isTrusted,
          interpreter,
          client_commands: ['foldline.preview', 'foldline.openSection'],
          render_deadline: vscode.workspace
            .getConfiguration('foldline')
            .get<number>('server.renderDeadline', 10),
        },
        // What the server shows and checks; how it starts is told to it once, above.
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- the server registers for no changes
        synchronize: { configurationSection: 'foldline' },
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
