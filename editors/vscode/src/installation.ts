// What a window says, once, when foldline is used and no server is there; and what it can do then.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';

import { expandFolder } from './interpreter';
import { environmentPythons, onPath } from './launch';
import type { Server } from './server';

const INSTALL = 'Install into .venv';
const SELECT = 'Select Interpreter';
const GUIDE = 'Guide';
const TRUST = 'Manage Trust';

const EXTRAS = 'foldline[server,mcp]';

export class Installation {
  private told = false;
  private showing = false;

  constructor(private readonly server: Server) {}

  /** Shows the message: for a file once a window, and whenever somebody asks for something. */
  async offer(why: 'file' | 'asked'): Promise<void> {
    if (this.showing || (this.told && why === 'file')) {
      return;
    }
    this.told = true;
    this.showing = true;
    const choice = await vscode.window.showWarningMessage(
      vscode.workspace.isTrusted
        ? "foldline's language server isn't installed: no environment of this folder has it."
        : "foldline's language server wasn't found, and this folder's environment isn't used before you trust it.",
      ...(vscode.workspace.isTrusted ? [INSTALL] : [TRUST]),
      SELECT,
      GUIDE,
    );
    this.showing = false;
    const commands: Record<string, string> = {
      [INSTALL]: 'foldline.installServer',
      [SELECT]: 'foldline.selectInterpreter',
      [GUIDE]: 'foldline.showGuide',
      [TRUST]: 'workbench.trust.manage',
    };
    if (choice !== undefined && choice in commands) {
      await vscode.commands.executeCommand(commands[choice] ?? '');
    }
  }

  /** Installs foldline into the environment of the first folder, made where there is none. */
  async install(): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0];
    if (folder === undefined) {
      throw new Error('Open a folder first: its .venv is where foldline goes.');
    }
    if (!vscode.workspace.isTrusted) {
      await vscode.commands.executeCommand('workbench.trust.manage');
      return;
    }
    const source = await askSource();
    if (source === undefined) {
      return;
    }
    const steps = installing(folder.uri.fsPath, source);
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: 'foldline', cancellable: true },
      async (progress, token) => {
        for (const [message, command] of steps) {
          progress.report({ message });
          await runLogged(command, folder.uri.fsPath, token, this.server.log);
        }
      },
    );
    await this.server.restart('foldline was installed');
  }
}

/** Where foldline comes from: the setting, or what somebody gives, which the setting keeps. */
async function askSource(): Promise<string | undefined> {
  const settings = vscode.workspace.getConfiguration('foldline');
  const set = settings.get<string>('server.installFrom', '').trim();
  if (set !== '') {
    return expandFolder(set);
  }
  const given = await vscode.window.showInputBox({
    title: 'Install foldline from where?',
    prompt:
      "foldline isn't on the package index yet: give the path of a checkout or a wheel, or a git address (git+https://…).",
    placeHolder: '/path/to/foldline',
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? 'A path, or a git address' : undefined),
  });
  if (given !== undefined) {
    await settings.update('server.installFrom', given.trim(), vscode.ConfigurationTarget.Global);
  }
  return given?.trim();
}

/** The commands that install it, by uv where that is there: its environments have no pip. */
export function installing(folder: string, source: string): [title: string, command: string[]][] {
  const search = process.env.PATH ?? '';
  const requirement = /^[a-z+]+:\/\//.test(source)
    ? `${EXTRAS} @ ${source}`
    : `${source}${EXTRAS.slice('foldline'.length)}`;
  const uv = onPath('uv', search)[0];
  const there = environmentPythons([folder])[0];
  const steps: [string, string[]][] = [];
  const home = join(folder, '.venv');
  const python = join(home, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (there === undefined) {
    const base = onPath('python3', search)[0] ?? onPath('python', search)[0];
    if (uv === undefined && base === undefined) {
      throw new Error('Neither uv nor Python is on PATH: install Python 3.11 or later first.');
    }
    steps.push([
      'making .venv',
      uv === undefined ? [base ?? '', '-m', 'venv', home] : [uv, 'venv', home],
    ]);
  }
  const into = there ?? python;
  steps.push([
    'installing into .venv',
    uv === undefined
      ? [into, '-m', 'pip', 'install', requirement]
      : [uv, 'pip', 'install', '--python', into, requirement],
  ]);
  return steps;
}

/** Runs a command, whose output goes to the log; ends it when somebody cancels. */
async function runLogged(
  [program = '', ...args]: string[],
  cwd: string,
  token: vscode.CancellationToken,
  log: vscode.LogOutputChannel,
): Promise<void> {
  log.info([program, ...args].join(' '));
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  const cancelling = token.onCancellationRequested(() => child.kill());
  let last = '';
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      last = line.trim() || last;
      log.info(line);
    });
  }
  try {
    const [status] = (await once(child, 'close')) as [number | null];
    if (token.isCancellationRequested) {
      throw new vscode.CancellationError();
    }
    if (status !== 0) {
      throw new Error(`${program} ${args[0]} failed: ${last || `status ${status}`}. See the log.`);
    }
  } finally {
    cancelling.dispose();
  }
}
