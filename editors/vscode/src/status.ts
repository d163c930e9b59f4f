import * as vscode from 'vscode';

import { holdsPrompts } from './imports';
import type { Server, ServerState } from './server';

/**
 * Whether the server runs and where it came from: an item of the status bar beside a file that
 * uses foldline, and a language status of every Python file.
 */
export function showStatus(server: Server): vscode.Disposable {
  const language = vscode.languages.createLanguageStatusItem('foldline.server', {
    language: 'python',
  });
  language.name = 'foldline';
  const bar = vscode.window.createStatusBarItem(
    'foldline.bar',
    vscode.StatusBarAlignment.Right,
    90,
  );
  bar.name = 'foldline';
  const show = (): void => {
    const state = server.state;
    const idle = !server.needed;
    const words = idle ? 'foldline' : text(state, server);
    const tooltip = idle
      ? 'It starts with the first file that imports foldline or instructs agents.'
      : detail(state);
    const missing = !idle && server.isMissing();
    // What is missing is told once, with what can be done; that isn't a failure.
    const failed = !idle && state.kind === 'stopped' && !missing;
    const command = missing
      ? { command: 'foldline.showGuide', title: 'Guide' }
      : failed
        ? { command: 'foldline.restartServer', title: 'Restart Server' }
        : { command: 'foldline.showLog', title: 'Show Log' };
    language.busy = state.kind === 'starting';
    language.severity = failed
      ? vscode.LanguageStatusSeverity.Error
      : vscode.LanguageStatusSeverity.Information;
    language.text = words;
    language.detail = tooltip;
    language.command = command;
    const icon = failed ? 'error' : state.kind === 'starting' ? 'loading~spin' : 'fold';
    bar.text = `$(${icon}) foldline${untrusted(state)}`;
    bar.tooltip = [words, tooltip].filter(Boolean).join('\n');
    bar.command = state.kind === 'running' ? 'foldline.showHealth' : command.command;
    bar.backgroundColor = failed
      ? new vscode.ThemeColor('statusBarItem.errorBackground')
      : undefined;
    const document = vscode.window.activeTextEditor?.document;
    if (!idle && document !== undefined && holdsPrompts(document)) {
      bar.show();
    } else if (document !== undefined) {
      // Without an editor, as while a preview has the focus, it stays as it was.
      bar.hide();
    }
  };
  show();
  return vscode.Disposable.from(
    language,
    bar,
    server.onDidChangeState(show),
    vscode.window.onDidChangeActiveTextEditor(show),
  );
}

function text(state: ServerState, server: Server): string {
  switch (state.kind) {
    case 'starting':
      return 'foldline starts';
    case 'running':
      return `foldline ${state.version}`.trim();
    case 'stopped':
      return server.isMissing() ? 'foldline is not installed' : 'foldline stopped';
  }
}

function untrusted(state: ServerState): string {
  return state.kind === 'running' && !vscode.workspace.isTrusted ? ' (restricted)' : '';
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
