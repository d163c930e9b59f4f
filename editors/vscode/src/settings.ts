// The settings that the server gets: those that somebody has set, for its options are the project's.

import * as vscode from 'vscode';

/** What the extension itself reads; the server has no use for it. */
const OURS = ['server', 'interpreter', 'preview', 'code'];

/** The section `foldline` without defaults, which would win over the project's own options. */
export function setValues(): Record<string, unknown> {
  const settings = vscode.workspace.getConfiguration('foldline');
  const names = Object.keys(settings).filter((name) => settings.inspect(name) !== undefined);
  const known = names.filter((name) => typeof settings[name] !== 'function');
  return Object.fromEntries(
    known
      .filter((name) => !OURS.includes(name) && isSet(settings.inspect(name)))
      .map((name) => [name, settings.get(name)]),
  );
}

function isSet(found: ReturnType<vscode.WorkspaceConfiguration['inspect']>): boolean {
  return [
    found?.globalValue,
    found?.workspaceValue,
    found?.workspaceFolderValue,
    found?.globalLanguageValue,
    found?.workspaceLanguageValue,
    found?.workspaceFolderLanguageValue,
  ].some((value) => value !== undefined);
}
