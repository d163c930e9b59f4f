// The view of what each client loads when it works on the file in the active editor.

import * as vscode from 'vscode';

import { ServerMissing, type Server } from '../server';
import type { InstructionCost, LeftOut, LoadedFile, Stack, Stacks } from '../wire';

interface ClientNode {
  kind: 'client';
  stack: Stack;
  about: string;
}

interface FileNode {
  kind: 'file';
  id: string;
  file: LoadedFile;
  about: string;
}

interface SectionNode {
  kind: 'section';
  id: string;
  file: LoadedFile;
  section: InstructionCost;
  about: string;
}

interface LeftOutNode {
  kind: 'leftOut';
  id: string;
  left: LeftOut;
}

type Node = ClientNode | FileNode | SectionNode | LeftOutNode;

/** After this much quiet what was edited is asked for again. */
const QUIET_MS = 400;

export class InstructionsView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Node>;
  private readonly toDispose: vscode.Disposable;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView('foldline.instructions', {
      treeDataProvider: this,
      showCollapseAll: true,
    });
    const soon = (): void => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.changed.fire(undefined), QUIET_MS);
    };
    this.toDispose = vscode.Disposable.from(
      this.view,
      this.changed,
      server.onDidChangeState(() => this.changed.fire(undefined)),
      vscode.window.onDidChangeActiveTextEditor(() => this.changed.fire(undefined)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.languageId === 'markdown') {
          soon();
        }
      }),
      vscode.workspace.onDidSaveTextDocument(soon),
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.toDispose.dispose();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node !== undefined) {
      return childrenOf(node);
    }
    try {
      await this.server.need('the view of instructions is open');
      if (this.server.state.kind !== 'running') {
        return [];
      }
      const document = vscode.window.activeTextEditor?.document;
      const inside =
        document !== undefined && vscode.workspace.getWorkspaceFolder(document.uri) !== undefined;
      const asked = inside ? { uri: document.uri.toString() } : {};
      const answer = await this.server.execute<Stacks>('instructions.stack', asked);
      this.view.description = inside ? answer.file : '';
      return answer.stacks
        .filter(({ files, left_out }) => files.length + left_out.length > 0)
        .map((stack) => ({ kind: 'client', stack, about: answer.exact ? '' : '~' }));
    } catch (error) {
      if (error instanceof ServerMissing) {
        return []; // The view of prompts says what can be done.
      }
      this.server.log.warn(`The view of instructions: ${String(error)}`);
      throw error;
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case 'client':
        return clientItem(node);
      case 'file':
        return fileItem(node);
      case 'section':
        return sectionItem(node);
      case 'leftOut':
        return leftOutItem(node);
    }
  }
}

function childrenOf(node: Node): Node[] {
  if (node.kind === 'client') {
    const { stack, about } = node;
    const id = (kind: string, index: number): string => `${stack.client} ${kind} ${index}`;
    return [
      ...stack.files.map((file, at): Node => ({ kind: 'file', id: id('file', at), file, about })),
      ...stack.left_out.map((left, at): Node => ({ kind: 'leftOut', id: id('out', at), left })),
    ];
  }
  if (node.kind === 'file') {
    const { file, about } = node;
    return file.sections.map((section) => ({
      kind: 'section',
      id: `${node.id} ${section.key}`,
      file,
      section,
      about,
    }));
  }
  return [];
}

function clientItem({ stack, about }: ClientNode): vscode.TreeItem {
  const item = new vscode.TreeItem(stack.title, vscode.TreeItemCollapsibleState.Expanded);
  const tokens = (count: number): string => `${about}${count.toLocaleString()}`;
  const parts =
    stack.added > 0
      ? ` (${tokens(stack.base)} in each session + ${tokens(stack.added)} for this file)`
      : '';
  item.id = stack.client;
  item.description = `${tokens(stack.base + stack.added)} tokens${parts}`;
  item.iconPath = new vscode.ThemeIcon('robot');
  item.tooltip = stack.note;
  return item;
}

function fileItem({ id, file, about }: FileNode): vscode.TreeItem {
  const item = new vscode.TreeItem(file.path, vscode.TreeItemCollapsibleState.Collapsed);
  const why = file.when === 'always' ? [] : [file.when === 'choice' ? 'not counted' : file.why];
  const cut = file.cut === null ? [] : [`cut in ${file.cut[0]}`];
  const doubt = file.confirmed ? [] : ['not confirmed'];
  item.id = id;
  item.description = [`${about}${file.tokens.toLocaleString()}`, ...why, ...cut, ...doubt].join(
    ' · ',
  );
  item.iconPath = new vscode.ThemeIcon(file.cut === null ? 'file' : 'warning');
  item.tooltip = [
    file.why === '' ? 'Loaded in each session.' : file.why,
    `By ${file.source}, read on ${file.read}.`,
  ].join('\n');
  item.command = goTo(file.uri, 0);
  return item;
}

function sectionItem({ id, file, section, about }: SectionNode): vscode.TreeItem {
  const item = new vscode.TreeItem(`${section.number} ${section.title}`.trim());
  item.id = id;
  item.description = `${about}${section.tokens.toLocaleString()}`;
  item.iconPath = new vscode.ThemeIcon('symbol-text');
  item.tooltip = section.key;
  item.command = goTo(file.uri, section.line - 1);
  return item;
}

function leftOutItem({ id, left }: LeftOutNode): vscode.TreeItem {
  const item = new vscode.TreeItem(left.path);
  item.id = id;
  item.description = `not read · ${left.why}`;
  item.iconPath = new vscode.ThemeIcon(left.by === '' ? 'circle-slash' : 'warning');
  item.tooltip = left.why;
  return item;
}

function goTo(uri: string, line: number): vscode.Command {
  return {
    command: 'vscode.open',
    title: 'Go to Source',
    arguments: [vscode.Uri.parse(uri), { selection: new vscode.Range(line, 0, line, 0) }],
  };
}
