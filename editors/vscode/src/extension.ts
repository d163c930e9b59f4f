import * as vscode from 'vscode';

import { adoptPrompt } from './commands/adoptPrompt';
import { copyContext } from './commands/copyContext';
import { newPrompt } from './commands/newPrompt';
import { openDocument } from './commands/openDocument';
import { closeSection, openSection, type Asked } from './commands/openSection';
import { openPreview } from './commands/preview';
import {
  compareWithRevision,
  copyPrompt,
  goToPrompt,
  previewInBrowser,
  switchParameters,
} from './commands/promptCommands';
import { Commands } from './commands/register';
import { provideReports, restartWorker, showHealth, showTokenReport } from './commands/reports';
import { selectInterpreter } from './commands/selectInterpreter';
import { holdsPrompts, watchImports } from './imports';
import { Installation } from './installation';
import { watchInterpreter } from './interpreter';
import { registerMcp } from './languageModel/mcp';
import { registerTools } from './languageModel/tools';
import { Follower } from './preview/follow';
import { ListedPrompts } from './preview/listed';
import { Previews, VIEW_TYPE } from './preview/previews';
import { Sync } from './preview/sync';
import { Server } from './server';
import { showStatus } from './status';
import { AdoptableView } from './views/adoptableView';
import { CodeView, type CodeNode } from './views/codeView';
import { InstructionsView } from './views/instructionsView';
import { PromptsView, type PromptsNode } from './views/promptsView';
import { ReferencesView } from './views/referencesView';
import type { AdoptablePrompt, PromptReference } from './wire';

let running: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('foldline', { log: true });
  const server = new Server(log, context.asAbsolutePath('bundled/foldline_server.py'));
  const previews = new Previews(context.extensionUri, server);
  const listed = new ListedPrompts(server);
  const installation = new Installation(server);
  const prompts = new PromptsView(server);
  const adoptable = new AdoptableView(server);
  const code = new CodeView(server);
  const references = new ReferencesView(server);
  const commands = new Commands(installation);
  const { version } = context.extension.packageJSON as { version: string };
  running = server;

  const ofNode = (asked?: PromptReference | PromptsNode): PromptReference | undefined =>
    asked !== undefined && 'kind' in asked ? asked.prompt : asked;
  context.subscriptions.push(
    log,
    server,
    previews,
    prompts,
    adoptable,
    code,
    references,
    new InstructionsView(server),
    new Follower(server, previews, listed),
    new Sync(server, previews, listed),
    showStatus(server),
    provideReports(),
    registerTools(server),
    registerMcp(server, version),
    vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, previews),

    commands.register('preview', (asked?: PromptReference | PromptsNode) =>
      openPreview(server, previews, vscode.ViewColumn.Beside, ofNode(asked)),
    ),
    commands.register('previewHere', (asked?: PromptReference | PromptsNode) =>
      openPreview(server, previews, vscode.ViewColumn.Active, ofNode(asked)),
    ),
    commands.register('previewInBrowser', (asked?: PromptsNode) =>
      previewInBrowser(server, previews, ofNode(asked)),
    ),
    commands.register('openSection', (asked?: Asked | PromptsNode) =>
      openSection(server, previews, sectionOf(asked)),
    ),
    commands.register('closeSection', (asked: Asked) => closeSection(previews, asked)),
    commands.register('openDocument', (asked?: PromptsNode) =>
      openDocument(server, previews, ofNode(asked)),
    ),
    commands.register('copyPrompt', (asked?: PromptsNode) =>
      copyPrompt(server, previews, ofNode(asked)),
    ),
    commands.register('switchParameters', () => switchParameters(server, previews)),
    commands.register('compareWithRevision', () => compareWithRevision(server, previews)),
    commands.register('goToPrompt', () => goToPrompt(server)),
    commands.register('newPrompt', () => newPrompt(server)),
    commands.register('adoptPrompt', (asked?: AdoptablePrompt | vscode.Uri) =>
      // The editor's menu names its file.
      adoptPrompt(server, asked instanceof vscode.Uri ? undefined : asked),
    ),
    commands.register('refreshAdoptable', () => adoptable.refresh()),
    commands.register('showTokenReport', () => showTokenReport(server, previews)),
    commands.register('showHealth', () => showHealth(server)),
    commands.register('lockPreview', () => previews.toggleLock()),
    commands.register('unlockPreview', () => previews.toggleLock()),

    commands.register('outline', () => vscode.commands.executeCommand('foldline.code.focus')),
    commands.register('findReferences', (node?: CodeNode) =>
      references.find(node !== undefined && 'symbol' in node ? node : undefined),
    ),
    commands.register('moreReferences', () => references.more()),
    commands.register('copyContext', (from?: vscode.Uri | CodeNode, chosen?: vscode.Uri[]) =>
      copyContext(server, from, chosen),
    ),
    commands.register('refreshPrompts', () => prompts.refresh()),

    commands.register('restartServer', () => server.restart('asked for')),
    commands.register('restartWorker', () => restartWorker(server)),
    commands.register('showLog', () => log.show()),
    commands.register('installServer', () => installation.install()),
    commands.register('selectInterpreter', () => selectInterpreter()),
    commands.register('showGuide', async () => {
      const guide = `${context.extension.id}#foldline.start`;
      await vscode.commands.executeCommand('workbench.action.openWalkthrough', guide, false);
      // What was done before the guide was there is ticked by what changes now.
      tell('foldline.hasServer', server.state.kind === 'running');
      tell('foldline.hasPreview', previews.latest !== undefined);
    }),

    watchImports((document) => void needed(server, installation, document)),
    tellContexts(server),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.trustGranted()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => server.reconsider('the folders changed')),
    vscode.workspace.onDidChangeConfiguration((change) => {
      // Also where the settings of a remote or a folder arrive after the window has started.
      if (change.affectsConfiguration('foldline')) {
        void server.reconsider('the settings changed');
      }
    }),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      // Somebody who was told to install it may have done so elsewhere.
      if (focused && server.isMissing()) {
        void server.reconsider('a server may have been installed');
      }
    }),
  );
  void watchInterpreter(log, () => {
    void server.reconsider('another interpreter was chosen');
  }).then((watch) => context.subscriptions.push(watch));
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}

/** Starts the server with the first file that holds prompts; says once when there is none. */
async function needed(
  server: Server,
  installation: Installation,
  document: vscode.TextDocument,
): Promise<void> {
  if (server.isMissing()) {
    return;
  }
  await server.need(`${vscode.workspace.asRelativePath(document.uri)} holds prompts`);
  if (server.isMissing()) {
    await installation.offer('file');
  }
}

/** What the manifest's menus and views depend on. */
function tellContexts(server: Server): vscode.Disposable {
  const tellServer = (): void =>
    tell('foldline.server', server.isMissing() ? 'missing' : server.state.kind);
  const tellEditor = (): void => {
    const document = vscode.window.activeTextEditor?.document;
    tell('foldline.isPromptFile', document !== undefined && holdsPrompts(document));
  };
  tellServer();
  tellEditor();
  return vscode.Disposable.from(
    server.onDidChangeState(tellServer),
    vscode.window.onDidChangeActiveTextEditor(tellEditor),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document === vscode.window.activeTextEditor?.document) {
        tellEditor();
      }
    }),
  );
}

function tell(key: string, value: unknown): void {
  void vscode.commands.executeCommand('setContext', key, value);
}

function sectionOf(asked?: Asked | PromptsNode): Asked | undefined {
  if (asked === undefined || !('kind' in asked)) {
    return asked;
  }
  const { uri, name } = asked.prompt;
  return asked.kind === 'section' ? { uri, name, section_keys: [asked.section.key] } : undefined;
}
