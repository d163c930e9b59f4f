// The operations on code as tools of the editor's own agents. The manifest describes them, and
// OPERATIONS names the server's command of each: both are made by make_tools.py.

import * as vscode from 'vscode';

import type { Server } from '../server';
import type { CodeAnswer } from '../answers';
import { OPERATIONS } from './operations';

export function registerTools(server: Server): vscode.Disposable {
  const tools = Object.entries(OPERATIONS).map(([name, command]) =>
    vscode.lm.registerTool(name, new OperationTool(server, command)),
  );
  return vscode.Disposable.from(...tools);
}

class OperationTool implements vscode.LanguageModelTool<object> {
  constructor(
    private readonly server: Server,
    private readonly command: string,
  ) {}

  async invoke({
    input,
  }: vscode.LanguageModelToolInvocationOptions<object>): Promise<vscode.LanguageModelToolResult> {
    // A failure's message says what to do, and the model reads it.
    const { text } = await this.server.execute<CodeAnswer<unknown>>(this.command, input);
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
  }
}
