// The view of texts that can become prompts, found when it is first opened.

import * as vscode from 'vscode';

import { ServerMissing, type Server } from '../server';
import type { AdoptablePrompt } from '../wire';

type AdoptableNode = AdoptablePrompt | { file: string; prompts: AdoptablePrompt[] };

export class AdoptableView implements vscode.TreeDataProvider<AdoptableNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly toDispose: vscode.Disposable;

  constructor(private readonly server: Server) {
    const options = { treeDataProvider: this, showCollapseAll: true };
    this.toDispose = vscode.Disposable.from(
      vscode.window.createTreeView('foldline.adoptable', options),
      this.changed,
      server.onDidChangeState(() => this.refresh()),
    );
  }

  refresh(): void {
    this.changed.fire(undefined);
  }

  dispose(): void {
    this.toDispose.dispose();
  }

  async getChildren(node?: AdoptableNode): Promise<AdoptableNode[]> {
    if (node !== undefined) {
      return 'prompts' in node ? node.prompts : [];
    }
    try {
      await this.server.need('the view of texts to adopt is open');
      if (this.server.state.kind !== 'running') {
        return [];
      }
      const files = new Map<string, AdoptablePrompt[]>();
      for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
        const folder = { uri: uri.toString() };
        const { prompts } = await this.server.execute<{ prompts: AdoptablePrompt[] }>(
          'prompt.adopt',
          folder,
        );
        for (const prompt of prompts) {
          files.set(prompt.uri, [...(files.get(prompt.uri) ?? []), prompt]);
        }
      }
      return [...files].map(([file, prompts]) => ({ file, prompts }));
    } catch (error) {
      if (error instanceof ServerMissing) {
        return []; // The view's own words say what can be done.
      }
      throw error;
    }
  }

  getTreeItem(node: AdoptableNode): vscode.TreeItem {
    return 'prompts' in node ? fileItem(vscode.Uri.parse(node.file)) : promptItem(node);
  }
}

function fileItem(uri: vscode.Uri): vscode.TreeItem {
  const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.Expanded);
  item.description = true;
  item.iconPath = vscode.ThemeIcon.File;
  return item;
}

function promptItem(prompt: AdoptablePrompt): vscode.TreeItem {
  const { target, name, style, size, fields, reason, more } = prompt;
  const file = more === 0 ? 'the whole file' : `${more} more…`;
  const item = new vscode.TreeItem(name || file);
  const shape = more === 0 ? [style, `${size.toLocaleString()} characters`] : [style];
  const values = fields === null ? [] : [`${fields} field${fields === 1 ? '' : 's'}`];
  item.id = `${target} ${more}`;
  item.description = [...shape, ...values].filter((part) => part !== '').join(' · ');
  item.tooltip = [target, item.description, ...(reason === '' ? [] : [reason])].join('\n');
  item.iconPath = new vscode.ThemeIcon(fields === null ? 'question' : 'symbol-string');
  item.contextValue = 'adoptable';
  item.accessibilityInformation = { label: `${target}, ${item.description}, ${reason}` };
  item.command = { command: 'foldline.adoptPrompt', title: 'Adopt as Prompt', arguments: [prompt] };
  return item;
}
