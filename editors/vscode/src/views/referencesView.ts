// The view of a name's uses: those that a language server confirms, and those that may be ones.

import * as vscode from 'vscode';

import type { Server } from '../server';
import type { CodeAnswer } from '../answers';
import type { CodeNode } from './codeView';

interface Reference {
  path: string;
  line: number;
  column: number;
  column_end: number;
  context: string;
  kind: string;
  enclosing: string;
  tier: 'confirmed' | 'possible' | 'elsewhere' | 'another';
}

interface References {
  name: string;
  references: Reference[];
  total: number;
  files: number;
  cursor: string | null;
  reason: string;
  confirmed: number;
  possible: number;
}

interface TierNode {
  kind: 'tier';
  tier: 'confirmed' | 'possible';
  references: Reference[];
}

interface ReferenceNode {
  kind: 'reference';
  reference: Reference;
}

interface MoreNode {
  kind: 'more';
}

type Node = TierNode | ReferenceNode | MoreNode;

const TIERS = {
  confirmed: { label: 'Confirmed', icon: 'pass', what: 'a language server vouches for them' },
  possible: { label: 'Possible', icon: 'question', what: 'the same name in code' },
} as const;

/** As many as a person looks through; *More* shows the next. */
const BUDGET = 20_000;

export class ReferencesView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Node>;
  private folder: vscode.Uri | undefined;
  private uses: References | undefined;
  private asked = 0;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView('foldline.references', {
      treeDataProvider: this,
      showCollapseAll: true,
    });
  }

  /** *Find Confirmed and Possible References*: of the symbol, or of the name under the cursor. */
  async find(node?: CodeNode): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const uri = node?.uri ?? editor?.document.uri;
    const range = editor?.document.getWordRangeAtPosition(editor.selection.active);
    const name = node?.symbol.name ?? (range && editor?.document.getText(range));
    if (uri === undefined || name === undefined || name === '') {
      throw new Error('Put the cursor on a name first.');
    }
    const attempt = ++this.asked;
    await vscode.commands.executeCommand('foldline.references.focus');
    const uses = await vscode.window.withProgress(
      { location: { viewId: 'foldline.references' } },
      () => this.ask(uri, name, null),
    );
    if (attempt === this.asked) {
      this.folder = vscode.workspace.getWorkspaceFolder(uri)?.uri;
      this.show(uses);
    }
  }

  /** *More*: the next page. */
  async more(): Promise<void> {
    const { folder, uses } = this;
    if (folder !== undefined && uses?.cursor) {
      const next = await this.ask(folder, uses.name, uses.cursor);
      this.show({ ...next, references: [...uses.references, ...next.references] });
    }
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }

  getChildren(node?: Node): Node[] {
    if (node?.kind === 'tier') {
      return node.references.map((reference) => ({ kind: 'reference', reference }));
    }
    if (node !== undefined || this.uses === undefined) {
      return [];
    }
    const { references, cursor } = this.uses;
    const tiers = (['confirmed', 'possible'] as const)
      .map((tier): TierNode => ({
        kind: 'tier',
        tier,
        references: references.filter(
          (one) => (one.tier === 'confirmed') === (tier === 'confirmed'),
        ),
      }))
      .filter((tier) => tier.references.length > 0);
    return cursor ? [...tiers, { kind: 'more' }] : tiers;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case 'tier': {
        const { label, icon, what } = TIERS[node.tier];
        const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Expanded);
        item.description = `${node.references.length} · ${what}`;
        item.iconPath = new vscode.ThemeIcon(icon);
        return item;
      }
      case 'more': {
        const item = new vscode.TreeItem('More…');
        item.command = { command: 'foldline.moreReferences', title: 'More' };
        return item;
      }
      case 'reference':
        return this.referenceItem(node.reference);
    }
  }

  private referenceItem(reference: Reference): vscode.TreeItem {
    const { path, line, column, column_end: end, context, kind, enclosing } = reference;
    const item = new vscode.TreeItem(context.trim());
    const inside = enclosing === '' ? '' : ` in ${enclosing}`;
    item.description = `${path}:${line} · ${kind}${inside}`;
    if (this.folder !== undefined) {
      const from = Math.max(column, 1) - 1;
      item.command = {
        command: 'vscode.open',
        title: 'Go to Reference',
        arguments: [
          vscode.Uri.joinPath(this.folder, path),
          { selection: new vscode.Range(line - 1, from, line - 1, Math.max(end - 1, from)) },
        ],
      };
    }
    return item;
  }

  private async ask(uri: vscode.Uri, name: string, cursor: string | null): Promise<References> {
    const answer = await this.server.execute<CodeAnswer<References>>('code.findReferences', {
      uri: uri.toString(),
      name,
      budget: BUDGET,
      cursor,
    });
    return answer.data;
  }

  private show(uses: References): void {
    this.uses = uses;
    const { name, total, files, reason } = uses;
    this.view.message =
      total === 0
        ? `No uses of ${name}. ${reason}`.trim()
        : `${name}: ${total} use${total === 1 ? '' : 's'} in ${files} file${files === 1 ? '' : 's'}`;
    this.changed.fire(undefined);
  }
}
