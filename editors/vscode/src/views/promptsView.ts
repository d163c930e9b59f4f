// The view of all prompts: their sections, what each costs, and what is wrong with it.

import * as vscode from 'vscode';

import { isSource } from '../imports';
import { ServerMissing, type Server } from '../server';
import type { PromptTokens, SectionTokens } from '../answers';
import type { SectionSummary } from '../promptMessages';
import type { ListedPrompt, Range, Section } from '../wire';

interface PromptNode {
  kind: 'prompt';
  prompt: ListedPrompt;
  costs: PromptTokens | null;
}

interface SectionNode {
  kind: 'section';
  prompt: ListedPrompt;
  section: ListedSection;
  costs: Map<string, SectionTokens>;
  about: string;
}

/** What the list says of a section beside its name. */
interface ListedSection extends Section {
  range: Range;
  children: ListedSection[];
}

export type PromptsNode = PromptNode | SectionNode;

/** After this much quiet what was edited is asked for again. */
const QUIET_MS = 400;

export class PromptsView implements vscode.TreeDataProvider<PromptsNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly toDispose: vscode.Disposable;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    const view = vscode.window.createTreeView('foldline.prompts', {
      treeDataProvider: this,
      showCollapseAll: true,
    });
    this.toDispose = vscode.Disposable.from(
      view,
      this.changed,
      server.onDidChangeState(() => this.refresh()),
      vscode.languages.onDidChangeDiagnostics(() => this.refreshSoon()),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (isSource(document) && contentChanges.length > 0) {
          this.refreshSoon();
        }
      }),
      vscode.workspace.onDidSaveTextDocument((document) => {
        if (isSource(document)) {
          this.refreshSoon();
        }
      }),
    );
  }

  refresh(): void {
    this.changed.fire(undefined);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.toDispose.dispose();
  }

  async getChildren(node?: PromptsNode): Promise<PromptsNode[]> {
    if (node !== undefined) {
      return sectionsOf(node);
    }
    try {
      await this.server.need('the view of prompts is open');
      if (this.server.state.kind !== 'running') {
        return [];
      }
      const listed = await this.server.execute<ListedPrompt[]>('prompt.list');
      return await Promise.all(listed.map((prompt) => this.nodeOf(prompt)));
    } catch (error) {
      if (error instanceof ServerMissing) {
        return []; // The view's own words say what can be done.
      }
      this.server.log.warn(`The view of prompts: ${String(error)}`);
      throw error;
    }
  }

  getTreeItem(node: PromptsNode): vscode.TreeItem {
    return node.kind === 'prompt' ? promptItem(node) : sectionItem(node);
  }

  /** What a folded section shows now, and its sizes: asked for when the pointer rests on it. */
  async resolveTreeItem(item: vscode.TreeItem, node: PromptsNode): Promise<vscode.TreeItem> {
    if (node.kind === 'section' && item.tooltip === undefined) {
      const { prompt, section } = node;
      const asked = { uri: prompt.uri, name: prompt.name, section_key: section.key };
      const { text, size, size_if_opened } = await this.server.execute<SectionSummary>(
        'prompt.summary',
        asked,
      );
      item.tooltip = `${section.key}: ${size} of ${size_if_opened} bytes\n\n${text}`;
    }
    return item;
  }

  private async nodeOf(prompt: ListedPrompt): Promise<PromptNode> {
    try {
      const { uri, name } = prompt;
      const costs = await this.server.execute<PromptTokens>('prompt.tokens', { uri, name });
      return { kind: 'prompt', prompt, costs };
    } catch (error) {
      // What the source does not show has no numbers, and is a prompt all the same.
      this.server.log.debug(`prompt.tokens ${prompt.name}: ${String(error)}`);
      return { kind: 'prompt', prompt, costs: null };
    }
  }

  private refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), QUIET_MS);
  }
}

function sectionsOf(node: PromptsNode): SectionNode[] {
  const sections = (
    node.kind === 'prompt' ? node.prompt.sections : node.section.children
  ) as ListedSection[];
  const costs =
    node.kind === 'section'
      ? node.costs
      : new Map((node.costs?.sections ?? []).map((one) => [one.key, one]));
  const about = node.kind === 'section' ? node.about : node.costs?.exact === false ? '~' : '';
  return sections.map((section) => ({
    kind: 'section',
    prompt: node.prompt,
    section,
    costs,
    about,
  }));
}

function promptItem({ prompt, costs }: PromptNode): vscode.TreeItem {
  const state =
    prompt.sections.length > 0
      ? vscode.TreeItemCollapsibleState.Collapsed
      : vscode.TreeItemCollapsibleState.None;
  const item = new vscode.TreeItem(prompt.name, state);
  const uri = vscode.Uri.parse(prompt.uri);
  const problems = problemsIn(uri, prompt.range);
  const errors = problems.filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error);
  const over = costs?.budget !== null && costs !== null && costs.tokens > costs.budget;
  const numbers = costs === null ? [] : [tokensOf(costs)];
  const wrong =
    problems.length === 0 ? [] : [`${problems.length} problem${problems.length > 1 ? 's' : ''}`];
  item.id = `${prompt.uri}#${prompt.name}`;
  item.description = [...numbers, ...(over ? ['over budget'] : []), ...wrong].join(' · ');
  item.iconPath =
    errors.length > 0
      ? new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'))
      : over || problems.length > 0
        ? new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'))
        : new vscode.ThemeIcon('comment-discussion');
  item.tooltip = [
    `${prompt.ns}/${prompt.key} in ${vscode.workspace.asRelativePath(uri)}`,
    ...problems.map(({ message }) => message),
  ].join('\n');
  item.accessibilityInformation = { label: `Prompt ${prompt.name}, ${item.description}` };
  item.contextValue = 'prompt';
  item.command = goTo(uri, prompt.range);
  return item;
}

function tokensOf(costs: PromptTokens): string {
  const about = costs.exact && costs.certain ? '' : '~';
  const of = costs.budget === null ? '' : ` of ${costs.budget.toLocaleString()}`;
  return `${about}${costs.tokens.toLocaleString()}${of} tokens`;
}

function sectionItem({ prompt, section, costs, about }: SectionNode): vscode.TreeItem {
  const { number, title, key, children, visibility } = section;
  const item = new vscode.TreeItem(
    `${number} ${title}`.trim() || key,
    children.length > 0
      ? vscode.TreeItemCollapsibleState.Collapsed
      : vscode.TreeItemCollapsibleState.None,
  );
  const cost = costs.get(key);
  const summarized = visibility === 'SUMMARY';
  item.id = `${prompt.uri}#${prompt.name}#${key}`;
  item.description = [
    ...(cost === undefined ? [] : [`${about}${cost.subtree.toLocaleString()}`]),
    ...(summarized ? ['summarized'] : []),
    ...(cost === undefined || cost.if_opened === null
      ? []
      : [`${about}${signed(cost.if_opened.total)} if opened`]),
  ].join(' · ');
  item.iconPath = new vscode.ThemeIcon(summarized ? 'fold' : 'symbol-text');
  item.tooltip = summarized ? undefined : key;
  item.contextValue = summarized ? 'summarized' : 'section';
  item.command = goTo(vscode.Uri.parse(prompt.uri), section.range);
  return item;
}

/** With its sign, a minus as the server writes it: a summary may cost more than the section. */
export function signed(tokens: number): string {
  return tokens.toLocaleString(undefined, { signDisplay: 'always' }).replace('-', '−');
}

function goTo(uri: vscode.Uri, { start }: Range): vscode.Command {
  const position = new vscode.Position(start.line, start.character);
  return {
    command: 'vscode.open',
    title: 'Go to Source',
    arguments: [uri, { selection: new vscode.Range(position, position) }],
  };
}

function problemsIn(uri: vscode.Uri, { start, end }: Range): vscode.Diagnostic[] {
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  return vscode.languages
    .getDiagnostics(uri)
    .filter(
      (problem) =>
        problem.source?.startsWith('foldline') === true &&
        problem.severity <= vscode.DiagnosticSeverity.Warning &&
        range.intersection(problem.range) !== undefined,
    );
}
