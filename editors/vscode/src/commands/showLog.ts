import * as vscode from 'vscode';

/** *Show Log*: how the server was found, and what it said. */
export function registerShowLog(log: vscode.LogOutputChannel): vscode.Disposable {
  return vscode.commands.registerCommand('foldline.showLog', () => log.show());
}
