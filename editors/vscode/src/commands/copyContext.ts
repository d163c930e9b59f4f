import * as vscode from 'vscode';

import type { Server } from '../server';
import type { CodeNode } from '../views/codeView';
import type { CodeAnswer } from '../answers';

const LEAST = 100;
const MOST = 100_000;

/**
 * *Copy Code for an LLM*: what a model needs to see of files or of a symbol, as text.
 *
 * From the explorer it is the chosen files, from the code view a symbol, else the active file.
 */
export async function copyContext(
  server: Server,
  from?: vscode.Uri | CodeNode,
  chosen?: vscode.Uri[],
): Promise<void> {
  const files = filesOf(from, chosen);
  const [first] = files;
  if (first === undefined) {
    throw new Error('Open a file first, or choose some in the explorer.');
  }
  const symbol = from instanceof vscode.Uri ? undefined : from?.symbol;
  const settings = vscode.workspace.getConfiguration('foldline');
  const given = await vscode.window.showInputBox({
    title: `Copy ${symbol?.name ?? files.map((file) => vscode.workspace.asRelativePath(file)).join(', ')} as context`,
    prompt: `Within how many bytes? ${LEAST} to ${MOST}`,
    value: String(settings.get<number>('code.contextBytes', 12_000)),
    validateInput: (text) =>
      /^\d+$/.test(text) && Number(text) >= LEAST && Number(text) <= MOST
        ? undefined
        : `A number from ${LEAST} to ${MOST}`,
  });
  if (given === undefined) {
    return;
  }
  const budget = Number(given);
  const paths = files.map((file) => vscode.workspace.asRelativePath(file, false));
  const { text } =
    symbol === undefined
      ? await server.execute<CodeAnswer<unknown>>('code.scopedContext', {
          uri: folderOf(first).toString(),
          paths,
          budget,
        })
      : await server.execute<CodeAnswer<unknown>>('code.readSymbol', {
          uri: first.toString(),
          name: symbol.name,
          budget,
        });
  await vscode.env.clipboard.writeText(text);
  const bytes = Buffer.byteLength(text).toLocaleString();
  void vscode.window.setStatusBarMessage(`foldline: copied ${bytes} bytes of context`, 5_000);
}

function filesOf(from: vscode.Uri | CodeNode | undefined, chosen?: vscode.Uri[]): vscode.Uri[] {
  if (from instanceof vscode.Uri) {
    return chosen !== undefined && chosen.length > 0 ? chosen : [from];
  }
  const active = from?.uri ?? vscode.window.activeTextEditor?.document.uri;
  return active?.scheme === 'file' ? [active] : [];
}

function folderOf(file: vscode.Uri): vscode.Uri {
  const folder = vscode.workspace.getWorkspaceFolder(file);
  if (folder === undefined) {
    throw new Error(`${file.fsPath} is outside of the workspace.`);
  }
  return folder.uri;
}
