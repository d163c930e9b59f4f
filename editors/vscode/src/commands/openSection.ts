import * as vscode from 'vscode';

import { flatten } from '../preview/listed';
import type { PreviewPanel } from '../preview/panel';
import type { Previews } from '../preview/previews';
import type { Server } from '../server';
import type { Block, ListedPrompt, PromptReference, Section } from '../wire';
import { pickPrompt } from './pickPrompt';

interface Choice extends vscode.QuickPickItem {
  key: string;
}

export interface Asked extends PromptReference {
  section_keys: string[];
}

/** *Open Section…*: those of the lens or code action that was chosen, or a pick. */
export async function openSection(
  server: Server,
  previews: Previews,
  asked?: Asked,
): Promise<void> {
  const preview =
    asked?.section_keys === undefined
      ? (previews.latest ?? (await previewOfEditor(server, previews)))
      : await previews.open(asked);
  const keys = asked?.section_keys ?? (preview && (await pickSection(server, preview)));
  await preview?.openClosed(keys ?? []);
}

/** *Close Section*: of the code action that was chosen. */
export async function closeSection(previews: Previews, asked: Asked): Promise<void> {
  await previews.showing(asked)?.change('closeSections', { section_keys: asked.section_keys });
}

async function previewOfEditor(
  server: Server,
  previews: Previews,
): Promise<PreviewPanel | undefined> {
  const prompt = await pickPrompt(server);
  return prompt === undefined ? undefined : previews.open(prompt);
}

async function pickSection(server: Server, preview: PreviewPanel): Promise<string[] | undefined> {
  const prompts = await server.execute<ListedPrompt[]>('prompt.list', { uri: preview.prompt.uri });
  const sections = prompts.find((prompt) => prompt.name === preview.prompt.name)?.sections ?? [];
  const choices = closedSections(preview.blocks.all(), sections);
  if (choices.length === 0) {
    void vscode.window.showInformationMessage('foldline: every section of this prompt is open.');
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(choices, {
    placeHolder: 'Open which section?',
    matchOnDescription: true,
  });
  return picked && [picked.key];
}

/** The summarized blocks, each followed by the summarized sections that are hidden below it. */
function closedSections(blocks: Block[], sections: Section[]): Choice[] {
  const listed = new Map(flatten(sections).map((section) => [section.key, section]));
  return blocks
    .filter((block) => block.visibility === 'SUMMARY')
    .flatMap((block) => [
      choice(block),
      ...flatten(listed.get(block.key)?.children ?? [])
        .filter((section) => section.visibility === 'SUMMARY')
        .map(choice),
    ]);
}

function choice({ number, title, key }: Pick<Section, 'number' | 'title' | 'key'>): Choice {
  return { label: `${number} ${title}`.trim(), description: key, key };
}
