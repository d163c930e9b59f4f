import * as vscode from 'vscode';

import type { Server } from '../server';

/** *Restart Server*: also of one that hangs or was never found. */
export function registerRestartServer(server: Server): vscode.Disposable {
  return vscode.commands.registerCommand('foldline.restartServer', () =>
    server.restart('asked for'),
  );
}
