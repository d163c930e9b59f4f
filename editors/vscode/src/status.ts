import * as vscode from 'vscode';

import type { Server, ServerState } from './server';

/** The language status item of Python files: whether the server runs, and where it came from. */
export function showStatus(server: Server): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem('foldline.server', { language: 'python' });
  item.name = 'foldline';
  const show = (state: ServerState): void => {
    item.busy = state.kind === 'starting';
    item.severity =
      state.kind === 'stopped'
        ? vscode.LanguageStatusSeverity.Error
        : vscode.LanguageStatusSeverity.Information;
    item.text = text(state);
    item.detail = detail(state);
    item.command =
      state.kind === 'stopped'
        ? { command: 'foldline.restartServer', title: 'Restart Server' }
        : { command: 'foldline.showLog', title: 'Show Log' };
  };
  show(server.state);
  return vscode.Disposable.from(item, server.onDidChangeState(show));
}

function text(state: ServerState): string {
  switch (state.kind) {
    case 'starting':
      return 'foldline starts';
    case 'running':
      return `foldline ${state.version}`.trim();
    case 'stopped':
      return 'foldline stopped';
  }
}

function detail(state: ServerState): string {
  switch (state.kind) {
    case 'starting':
      return '';
    case 'running': {
      const trust = vscode.workspace.isTrusted ? '' : 'nothing is executed before you trust it; ';
      return `${trust}from ${state.origin}`;
    }
    case 'stopped':
      return state.reason;
  }
}
