// Silence until there is something to say: the server starts with the first file that needs it.

import * as vscode from 'vscode';

/** As a statement of its own, where a docstring's example would do no harm either. */
const IMPORT = /^[ \t]*(?:from|import)[ \t]+foldline\b/m;

export function importsFoldline(document: vscode.TextDocument): boolean {
  return document.languageId === 'python' && IMPORT.test(document.getText());
}

/** Calls back with each document that is open, or opened, or edited, and imports foldline. */
export function watchImports(found: (document: vscode.TextDocument) => void): vscode.Disposable {
  const look = (document: vscode.TextDocument): void => {
    if (importsFoldline(document)) {
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
