import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** The page of a preview. What it shows arrives in messages, and becomes text, never markup. */
export function pageOf(webview: vscode.Webview, extension: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const script = webview
    .asWebviewUri(vscode.Uri.joinPath(extension, 'out', 'webview.js'))
    .toString();
  const style = webview
    .asWebviewUri(vscode.Uri.joinPath(extension, 'media', 'preview.css'))
    .toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="UTF-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <link rel="stylesheet" href="${style}">
  <title>Prompt preview</title>
</head>
<body>
  <script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
