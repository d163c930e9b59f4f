import * as vscode from 'vscode';

import { messageOf } from '../failure';
import type { Installation } from '../installation';
import { ServerMissing } from '../server';

type Run = (...args: never[]) => unknown;

/** Registers commands whose failures are told once: a missing server with what can be done. */
export class Commands {
  constructor(private readonly installation: Installation) {}

  register(id: string, run: Run): vscode.Disposable {
    return vscode.commands.registerCommand(`foldline.${id}`, async (...args: never[]) => {
      try {
        return await run(...args);
      } catch (error) {
        this.report(error);
        return undefined;
      }
    });
  }

  private report(error: unknown): void {
    if (error instanceof ServerMissing) {
      void this.installation.offer('asked');
    } else if (!(error instanceof vscode.CancellationError)) {
      void vscode.window.showErrorMessage(`foldline: ${messageOf(error)}`);
    }
  }
}
