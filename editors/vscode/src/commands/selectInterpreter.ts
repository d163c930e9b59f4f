import * as vscode from 'vscode';

import { PYTHON_EXTENSION } from '../interpreter';
import { environmentPythons, onPath } from '../launch';

const OTHER = 'Enter a path…';
const AUTOMATIC = 'Automatic';

/** *Select Interpreter*: the Python extension's own chooser, or one of those that are here. */
export async function selectInterpreter(): Promise<void> {
  if (vscode.extensions.getExtension(PYTHON_EXTENSION) !== undefined) {
    await vscode.commands.executeCommand('python.setInterpreter');
    return;
  }
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const pythons = [
    ...environmentPythons(folders),
    ...['python3', 'python'].flatMap((name) => onPath(name, process.env.PATH ?? '')),
  ];
  const picked = await vscode.window.showQuickPick(
    [
      { label: AUTOMATIC, description: 'the nearest environment of each file' },
      ...[...new Set(pythons)].map((label) => ({ label, description: '' })),
      { label: OTHER, description: '' },
    ],
    { title: 'Which Python runs prompts, and the server if it has one?' },
  );
  const chosen =
    picked?.label === OTHER
      ? await vscode.window.showInputBox({ title: 'The path of a Python interpreter' })
      : picked?.label;
  if (chosen !== undefined) {
    const value = chosen === AUTOMATIC ? undefined : chosen;
    await vscode.workspace
      .getConfiguration('foldline')
      .update('interpreter', value, vscode.ConfigurationTarget.Workspace);
  }
}
