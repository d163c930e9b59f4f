import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as path from 'node:path';
import * as vscode from 'vscode';

import { START_FOLDER } from '../launch';
import { ServerMissing, type Server } from '../server';

/** *New Prompt*: a module to begin with, written by `foldline new`, opened beside its preview. */
export async function newPrompt(server: Server): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) {
    throw new Error('Open a folder first: a prompt is a module of it.');
  }
  await server.need('a prompt is to be written');
  if (server.isMissing()) {
    throw new ServerMissing();
  }
  const program = await server.program(['new']);
  if (program === null) {
    throw new Error("foldline.server.command isn't foldline's own: run `foldline new` yourself.");
  }
  const name = await vscode.window.showInputBox({
    title: 'New prompt',
    prompt: 'Path of the new file',
    value: 'prompts/support.py',
    valueSelection: ['prompts/'.length, 'prompts/support'.length],
    validateInput: (text) => (text.endsWith('.py') ? undefined : 'A Python module: NAME.py'),
  });
  if (name === undefined) {
    return;
  }
  const file = path.resolve(folder.uri.fsPath, name);
  try {
    const options = { cwd: START_FOLDER, timeout: 30_000 };
    await promisify(execFile)(program.command, [...program.args, file], options);
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw stderr ? new Error(stderr.trim().replace(/^foldline new: /, '')) : error;
  }
  const uri = vscode.Uri.file(file);
  await vscode.window.showTextDocument(uri);
  await vscode.commands.executeCommand('foldline.preview', {
    uri: uri.toString(),
    name: path.basename(file, '.py'),
  });
}
