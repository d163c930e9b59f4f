import * as vscode from 'vscode';

import { registerOpenDocument } from './commands/openDocument';
import { registerOpenSection } from './commands/openSection';
import { registerPreview } from './commands/preview';
import { registerRestartServer } from './commands/restartServer';
import { registerShowLog } from './commands/showLog';
import { watchInterpreter } from './interpreter';
import { Previews, VIEW_TYPE } from './preview/previews';
import { Server } from './server';
import { showStatus } from './status';

/** The settings that a running server does not take in. */
const STARTING = ['foldline.server', 'foldline.interpreter'];

let running: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('foldline', { log: true });
  const server = new Server(log);
  const previews = new Previews(context.extensionUri, server);
  running = server;
  context.subscriptions.push(
    log,
    server,
    previews,
    showStatus(server),
    registerPreview(server, previews),
    registerOpenSection(server, previews),
    registerOpenDocument(server),
    registerRestartServer(server),
    registerShowLog(log),
    vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, previews),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.trustGranted()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (STARTING.some((setting) => change.affectsConfiguration(setting))) {
        void server.restart('the settings changed');
      }
    }),
  );
  void server.restart('the extension is active');
  void watchInterpreter(log, () => {
    void server.reconsider('another interpreter was chosen');
  }).then((watch) => context.subscriptions.push(watch));
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}
