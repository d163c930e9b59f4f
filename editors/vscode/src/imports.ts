// Silence until there is something to say: the server starts with the first file that needs it.

import * as vscode from 'vscode';

import { isInstructionFile } from './instructionFiles';

/** As a statement of its own, where a docstring's example would do no harm either. */
const IMPORT = /^[ \t]*(?:from|import)[ \t]+foldline\b/m;

/** Whether it imports foldline, or instructs agents. */
export function holdsPrompts(document: vscode.TextDocument): boolean {
  return document.languageId === 'python'
    ? IMPORT.test(document.getText())
    : isInstructionFile(document);
}

/** Whether it may come to hold prompts: a Python file, or one that instructs agents. */
export function isSource(document: vscode.TextDocument): boolean {
  return document.languageId === 'python' || isInstructionFile(document);
}

/** Calls back with each document that is open, or opened, or edited, and holds prompts. */
export function watchImports(found: (document: vscode.TextDocument) => void): vscode.Disposable {
  const look = (document: vscode.TextDocument): void => {
    if (holdsPrompts(document)) {
      found(document);
    }
  };
  vscode.workspace.textDocuments.forEach(look);
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidSaveTextDocument(look),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      // Only what was just written can be a new import.
      if (contentChanges.some(({ text }) => text.includes('foldline') || text.includes('\n'))) {
        look(document);
      }
    }),
    vscode.window.onDidChangeActiveTextEditor((editor) => {
      if (editor !== undefined) {
        look(editor.document);
      }
    }),
  );
}
