// The palette's commands for one prompt: that of the panel that was looked at, or the editor's.

import * as vscode from 'vscode';

import type { Previews } from '../preview/previews';
import type { Server } from '../server';
import type { ListedPrompt, PromptReference } from '../wire';
import { pickPrompt } from './pickPrompt';

/** The prompt that a command is for: named by the caller, in the panel, or in the editor. */
export async function promptFor(
  server: Server,
  previews: Previews,
  asked?: PromptReference,
): Promise<PromptReference | undefined> {
  if (asked?.name !== undefined) {
    return { uri: asked.uri, name: asked.name };
  }
  const found = previews.active?.prompt ?? (await pickPrompt(server));
  return found && { uri: found.uri, name: found.name };
}

/** *Preview Prompt in Browser*: the page that `foldline preview --serve` shows, of this text. */
export async function previewInBrowser(
  server: Server,
  previews: Previews,
  asked?: PromptReference,
): Promise<void> {
  const prompt = await promptFor(server, previews, asked);
  if (prompt !== undefined) {
    const { url } = await server.execute<{ url: string }>('prompt.serve', { ...prompt });
    await vscode.env.openExternal(await vscode.env.asExternalUri(vscode.Uri.parse(url)));
  }
}

/** *Switch Parameters…*: the values that the preview shows, by the name of their set. */
export async function switchParameters(server: Server, previews: Previews): Promise<void> {
  const prompt = await promptFor(server, previews);
  if (prompt === undefined) {
    return;
  }
  const panel = await previews.open(prompt);
  const { sets } = panel;
  if (sets.length === 0) {
    void vscode.window.showInformationMessage(
      `foldline: ${prompt.name} has no sets of values. Write a preview_…() function that returns some.`,
    );
    return;
  }
  const picked = await vscode.window.showQuickPick([...sets, 'none'], {
    placeHolder: `Show ${prompt.name} with which values?`,
  });
  if (picked !== undefined && panel.sessionId !== null) {
    await panel.change('setParams', { parameter_set: picked });
  }
}

/** *Copy Rendered Prompt*: as it is open in the panel, or as the model gets it at first. */
export async function copyPrompt(
  server: Server,
  previews: Previews,
  asked?: PromptReference,
): Promise<void> {
  const prompt = await promptFor(server, previews, asked);
  if (prompt === undefined) {
    return;
  }
  const panel = previews.showing(prompt);
  const fidelity = vscode.workspace.isTrusted ? 'executed' : 'static';
  const text =
    panel === undefined || panel.blocks.order.length === 0
      ? (await server.execute<{ text: string }>('prompt.render', { ...prompt, fidelity })).text
      : panel.blocks
          .all()
          .map((block) => block.text)
          .join('');
  await vscode.env.clipboard.writeText(text);
  void vscode.window.setStatusBarMessage(
    `foldline: copied ${prompt.name}, ${text.length.toLocaleString()} characters`,
    5_000,
  );
}

/** *Compare with Revision…*: what the model got then against what it gets now. */
export async function compareWithRevision(server: Server, previews: Previews): Promise<void> {
  const prompt = await promptFor(server, previews);
  if (prompt === undefined) {
    return;
  }
  const revision = await vscode.window.showInputBox({
    title: `Compare ${prompt.name} with a revision`,
    prompt: 'A commit, a branch or a tag',
    value: 'HEAD',
  });
  if (revision) {
    const same = await (await previews.open(prompt)).compare({ revision });
    if (same !== undefined) {
      void vscode.window.showInformationMessage(`foldline: ${prompt.name}: ${same}`);
    }
  }
}

/** *Go to Prompt…*: every prompt of the workspace, and its sections. */
export async function goToPrompt(server: Server): Promise<void> {
  const listed = await server.execute<ListedPrompt[]>('prompt.list');
  if (listed.length === 0) {
    const made = 'New Prompt';
    const choice = await vscode.window.showInformationMessage(
      'foldline: this workspace has no prompts yet.',
      made,
    );
    if (choice === made) {
      await vscode.commands.executeCommand('foldline.newPrompt');
    }
    return;
  }
  const picked = await vscode.window.showQuickPick(
    listed.map((prompt) => ({
      label: prompt.name,
      description: `${prompt.ns}/${prompt.key}`,
      detail: vscode.workspace.asRelativePath(vscode.Uri.parse(prompt.uri)),
      prompt,
    })),
    { placeHolder: 'Go to which prompt?', matchOnDescription: true, matchOnDetail: true },
  );
  if (picked !== undefined) {
    const { start } = picked.prompt.range;
    const position = new vscode.Position(start.line, start.character);
    await vscode.window.showTextDocument(vscode.Uri.parse(picked.prompt.uri), {
      selection: new vscode.Range(position, position),
    });
  }
}

export function sessionOf(previews: Previews, prompt: PromptReference): { session?: string } {
  const session = previews.showing(prompt)?.sessionId;
  return session === undefined || session === null ? {} : { session };
}
