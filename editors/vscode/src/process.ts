// The server's process: started with a log of what it says, ended for certain.

import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { once } from 'node:events';

import { START_FOLDER, type Launch } from './launch';

const GRACE_MS = 2_000;

/** A server that runs; `ended` says how it went. */
export class ServerProcess {
  readonly ended: Promise<string>;
  private lastWords = '';

  private constructor(
    readonly child: ChildProcess,
    log: (line: string) => void,
  ) {
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on('line', (line) => {
        this.lastWords = line.trim() || this.lastWords;
        log(line);
      });
    }
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        if (signal !== null) {
          resolve(`was ended by ${signal}`);
        } else {
          // Whoever leaves by itself may have said why.
          const why = code === 0 || this.lastWords === '' ? '' : `: ${this.lastWords}`;
          resolve(`exited with status ${code}${why}`);
        }
      });
    });
  }

  /** Starts it; rejects when the command cannot be run. */
  static async start(launch: Launch, log: (line: string) => void): Promise<ServerProcess> {
    const child = spawn(launch.command, launch.args, {
      cwd: START_FOLDER,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    await once(child, 'spawn');
    return new ServerProcess(child, log);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Ends it: asked by a closed stdin, then by a signal, then by one that cannot be refused. */
  async stop(): Promise<void> {
    this.child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.isGoneWithin(GRACE_MS)) {
        return;
      }
      this.child.kill(signal);
    }
    await this.ended;
  }

  private async isGoneWithin(milliseconds: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), milliseconds);
    });
    const gone = await Promise.race([this.ended.then(() => true), late]);
    clearTimeout(timer);
    return gone;
  }
}
