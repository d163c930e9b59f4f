// The Python interpreter that renders prompts: the setting's, or the Python extension's.

import type { PythonExtension } from '@vscode/python-extension';
import * as vscode from 'vscode';

import { messageOf } from './failure';

export const PYTHON_EXTENSION = 'ms-python.python';

/** The interpreter that is chosen for the first folder, or null when nobody chose one. */
export async function chosenInterpreter(log: vscode.LogOutputChannel): Promise<string | null> {
  const set = vscode.workspace.getConfiguration('foldline').get<string>('interpreter', '');
  if (set !== '') {
    return expandFolder(set);
  }
  const environments = (await pythonExtension(log))?.environments;
  if (environments === undefined) {
    return null;
  }
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const environment = await environments.resolveEnvironment(
    environments.getActiveEnvironmentPath(folder),
  );
  return environment?.executable.uri?.fsPath ?? null;
}

/** Calls back whenever another interpreter is chosen in the Python extension. */
export async function watchInterpreter(
  log: vscode.LogOutputChannel,
  changed: () => void,
): Promise<vscode.Disposable> {
  const environments = (await pythonExtension(log))?.environments;
  return environments?.onDidChangeActiveEnvironmentPath(changed) ?? vscode.Disposable.from();
}

export function expandFolder(text: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
  return text.replaceAll('${workspaceFolder}', folder);
}

async function pythonExtension(log: vscode.LogOutputChannel): Promise<PythonExtension | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>(PYTHON_EXTENSION);
  try {
    return await extension?.activate();
  } catch (error) {
    log.warn(`The Python extension did not start: ${messageOf(error)}`);
    return undefined;
  }
}
