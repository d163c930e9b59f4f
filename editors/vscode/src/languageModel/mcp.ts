// foldline's MCP server for the editor's own agents: the tools on code, and the workspace's prompts.

import * as vscode from 'vscode';

import type { Server } from '../server';

export function registerMcp(server: Server, version: string): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  return vscode.Disposable.from(
    changed,
    vscode.workspace.onDidGrantWorkspaceTrust(() => changed.fire()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => changed.fire()),
    server.onDidChangeState(({ kind }) => {
      if (kind === 'running') {
        changed.fire();
      }
    }),
    vscode.lm.registerMcpServerDefinitionProvider('foldline.mcp', {
      onDidChangeMcpServerDefinitions: changed.event,
      provideMcpServerDefinitions: async () => {
        const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
        const trust = vscode.workspace.isTrusted ? ['--trust'] : [];
        const roots = folders.flatMap((folder) => ['--root', folder]);
        // Found as the language server is: nothing of a folder that isn't trusted is a program.
        const program = await server.program(['mcp', ...roots, ...trust]);
        if (program === null || folders.length === 0) {
          return [];
        }
        const { command, args } = program;
        server.log.info(`Agents of the editor may start ${[command, ...args].join(' ')}`);
        return [new vscode.McpStdioServerDefinition('foldline', command, args, {}, version)];
      },
    }),
  );
}
