// The view of the current file's code, as the outline that an agent gets of it.

import * as vscode from 'vscode';

import { messageOf } from '../failure';
import { ServerMissing, type Server } from '../server';
import type { CodeAnswer } from '../answers';

export interface CodeSymbol {
  name: string;
  kind: string;
  line: number;
  line_end: number;
  name_line: number;
  signature: string;
  docstring: string | null;
  children: CodeSymbol[];
}

interface Outline {
  symbols: CodeSymbol[];
  reason: string;
}

export interface CodeNode {
  uri: vscode.Uri;
  symbol: CodeSymbol;
}

const QUIET_MS = 400;

const ICONS: Record<string, string> = {
  class: 'symbol-class',
  function: 'symbol-function',
  method: 'symbol-method',
  property: 'symbol-property',
  constant: 'symbol-constant',
  enum: 'symbol-enum',
  interface: 'symbol-interface',
  module: 'symbol-module',
  type: 'symbol-class',
};

export class CodeView implements vscode.TreeDataProvider<CodeNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<CodeNode>;
  private readonly toDispose: vscode.Disposable;
  private timer: NodeJS.Timeout | undefined;
  private shown: vscode.Uri | undefined;

  constructor(private readonly server: Server) {
    this.shown = fileOf(vscode.window.activeTextEditor);
    this.view = vscode.window.createTreeView('foldline.code', {
      treeDataProvider: this,
      showCollapseAll: true,
    });
    this.toDispose = vscode.Disposable.from(
      this.view,
      this.changed,
      server.onDidChangeState(() => this.changed.fire(undefined)),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        const file = fileOf(editor);
        // What has the focus may be this very view, or a preview: they keep the file.
        if (file !== undefined && file.toString() !== this.shown?.toString()) {
          this.shown = file;
          this.changed.fire(undefined);
        }
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.toString() === this.shown?.toString()) {
          clearTimeout(this.timer);
          this.timer = setTimeout(() => this.changed.fire(undefined), QUIET_MS);
        }
      }),
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.toDispose.dispose();
  }

  async getChildren(node?: CodeNode): Promise<CodeNode[]> {
    if (node !== undefined) {
      return node.symbol.children.map((symbol) => ({ uri: node.uri, symbol }));
    }
    const uri = this.shown;
    if (uri === undefined) {
      return [];
    }
    try {
      await this.server.need('the view of code is open');
      if (this.server.state.kind !== 'running') {
        return [];
      }
      const answer = await this.server.execute<CodeAnswer<Outline>>('code.outline', {
        uri: uri.toString(),
      });
      this.view.description = vscode.workspace.asRelativePath(uri);
      this.view.message = answer.data.symbols.length === 0 ? answer.data.reason : '';
      return answer.data.symbols.map((symbol) => ({ uri, symbol }));
    } catch (error) {
      if (error instanceof ServerMissing) {
        return [];
      }
      // A language without an outline, or a file outside of the workspace.
      this.view.description = vscode.workspace.asRelativePath(uri);
      this.view.message = messageOf(error);
      return [];
    }
  }

  getTreeItem({ uri, symbol }: CodeNode): vscode.TreeItem {
    const item = new vscode.TreeItem(
      symbol.name,
      symbol.children.length > 0
        ? vscode.TreeItemCollapsibleState.Collapsed
        : vscode.TreeItemCollapsibleState.None,
    );
    const lines = `${symbol.line}–${symbol.line_end}`;
    item.id = `${uri.toString()}#${symbol.name}#${symbol.line}`;
    item.description = [brief(symbol), lines].filter(Boolean).join(' · ');
    item.tooltip = [symbol.signature, symbol.docstring].filter(Boolean).join('\n\n');
    item.iconPath = new vscode.ThemeIcon(ICONS[symbol.kind] ?? 'symbol-variable');
    item.contextValue = 'symbol';
    const position = new vscode.Position(Math.max(symbol.name_line || symbol.line, 1) - 1, 0);
    item.command = {
      command: 'vscode.open',
      title: 'Go to Definition',
      arguments: [uri, { selection: new vscode.Range(position, position) }],
    };
    return item;
  }
}

/** Of the signature what the name doesn't say already. */
function brief({ name, signature }: CodeSymbol): string {
  const words = signature.replace(/\s+/g, ' ');
  const end = words.indexOf(name) + name.length;
  return words.includes(name) ? words.slice(end).trim() : words;
}

function fileOf(editor: vscode.TextEditor | undefined): vscode.Uri | undefined {
  return editor?.document.uri.scheme === 'file' ? editor.document.uri : undefined;
}
