// Source and preview side by side: the characters at the cursor and the section under the cursor is marked in the preview, the one
// under the pointer in the source, and they scroll together as far as the setting says.

import * as vscode from 'vscode';

import { promptAt } from '../commands/pickPrompt';
import { holdsPrompts } from '../imports';
import type { Server } from '../server';
import type { PromptReference } from '../wire';
import {
  flatten,
  lineAtPlace,
  placeAtLine,
  rangeOf,
  sectionAt,
  type ListedPrompts,
} from './listed';
import type { Place } from './messages';
import type { PreviewPanel } from './panel';
import type { Previews } from './previews';

type Mode = 'off' | 'editorToPreview' | 'previewToEditor' | 'both';

export class Sync implements vscode.Disposable {
  private readonly toDispose: { dispose(): unknown }[];
  /** What the pointer is on in a preview, in the source. */
  private readonly pointed = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.rangeHighlightBackground'),
    // High contrast themes have no such background.
    borderWidth: '0 0 0 3px',
    borderStyle: 'solid',
    borderColor: new vscode.ThemeColor('focusBorder'),
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.rangeHighlightForeground'),
  });
  /** The first line of each document that is known here: scrolling is a change of it. */
  private readonly tops = new Map<string, number>();

  constructor(
    private readonly server: Server,
    private readonly previews: Previews,
    private readonly listed: ListedPrompts,
  ) {
    this.toDispose = [
      this.pointed,
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        this.mark(textEditor);
        this.trace(textEditor);
      }),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) =>
        this.editorScrolled(textEditor),
      ),
      previews.onDidOpen((panel) => this.opened(panel)),
      previews.onDidPoint(({ panel, key }) => this.point(panel, key)),
      previews.onDidScroll(({ panel, place }) => this.previewScrolled(panel, place)),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.toDispose).dispose();
  }

  private opened(panel: PreviewPanel): void {
    const editor = editorOf(panel.prompt);
    if (editor !== undefined) {
      this.mark(editor);
      this.trace(editor);
    }
  }

  /** Marks the section under the cursor in the previews of its prompt. */
  private mark({ document, selection }: vscode.TextEditor): void {
    this.attempt(document, async () => {
      const prompts = await this.listed.of(document);
      const prompt = promptAt(prompts, selection.active);
      const key = prompt && sectionAt(prompt.sections, selection.active)?.key;
      const scrolls = ['editorToPreview', 'both'].includes(mode());
      for (const panel of this.previews.of(document.uri)) {
        panel.mark(panel.prompt.name === prompt?.name ? (key ?? null) : null, scrolls);
      }
    });
  }

  /** Marks what comes from the characters at the cursor: texts may be in any file. */
  private trace({ document, selection }: vscode.TextEditor): void {
    const { start, isEmpty } = selection;
    const last = document.lineAt(start).range.end.character;
    const at = {
      source: document.uri.toString(),
      line: start.line,
      // A cursor at the end of a line is behind a character, not on one.
      character: start.character - Number(isEmpty && start.character === last && last > 0),
      size: isEmpty ? 1 : Array.from(document.getText(selection)).length,
    };
    const scrolls = ['editorToPreview', 'both'].includes(mode());
    for (const panel of this.previews.visible) {
      if (vscode.Uri.parse(panel.prompt.uri).scheme === document.uri.scheme) {
        panel.trace(at, scrolls).catch((error: unknown) => this.failed(error));
      }
    }
  }

  private editorScrolled({ document, visibleRanges }: vscode.TextEditor): void {
    const uri = document.uri.toString();
    const top = visibleRanges[0]?.start.line ?? 0;
    const before = this.tops.get(uri);
    this.tops.set(uri, top);
    // Typing changes what is visible without scrolling, and what the preview moved is known.
    if (before === top || !['editorToPreview', 'both'].includes(mode())) {
      return;
    }
    this.attempt(document, async () => {
      const prompts = await this.listed.of(document);
      for (const panel of this.previews.of(document.uri)) {
        const prompt = prompts.find(({ name }) => name === panel.prompt.name);
        const place = prompt && placeAtLine(prompt, top);
        if (place !== undefined) {
          panel.scrollTo(place);
        }
      }
    });
  }

  private previewScrolled(panel: PreviewPanel, place: Place): void {
    const editor = editorOf(panel.prompt);
    if (editor === undefined || !['previewToEditor', 'both'].includes(mode())) {
      return;
    }
    this.attempt(editor.document, async () => {
      const prompts = await this.listed.of(editor.document);
      const prompt = prompts.find(({ name }) => name === panel.prompt.name);
      const line = prompt && lineAtPlace(prompt, place);
      if (line !== undefined) {
        this.tops.set(editor.document.uri.toString(), line);
        editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.AtTop);
      }
    });
  }

  /** Marks the section in the editors that show it, which stay where they are. */
  private point(panel: PreviewPanel, key: string | null): void {
    for (const editor of vscode.window.visibleTextEditors) {
      editor.setDecorations(this.pointed, []);
    }
    if (key === null) {
      return;
    }
    const block = panel.blocks.all().find((one) => one.key === key);
    const inModule = editorOf(panel.prompt);
    if (inModule !== undefined && block?.location?.uri === inModule.document.uri.toString()) {
      this.attempt(inModule.document, async () => {
        const prompts = await this.listed.of(inModule.document);
        const prompt = prompts.find(({ name }) => name === panel.prompt.name);
        const section = flatten(prompt?.sections ?? []).find((one) => one.key === key);
        inModule.setDecorations(this.pointed, section ? [rangeOf(section.range)] : []);
      });
    } else if (block?.location) {
      const { uri, range } = block.location;
      editorOf({ uri })?.setDecorations(this.pointed, [rangeOf(range)]);
    }
  }

  /** Does what needs the server's answer; what fails here is no loss. */
  private attempt(document: vscode.TextDocument, run: () => Promise<void>): void {
    if (
      this.server.state.kind === 'running' &&
      holdsPrompts(document) &&
      this.previews.of(document.uri).length > 0
    ) {
      run().catch((error: unknown) => this.failed(error));
    }
  }

  private failed(error: unknown): void {
    this.server.log.debug(`Editor and preview are not in step: ${String(error)}`);
  }
}

function mode(): Mode {
  return vscode.workspace
    .getConfiguration('foldline')
    .get<Mode>('preview.scrollSync', 'editorToPreview');
}

function editorOf({ uri }: Pick<PromptReference, 'uri'>): vscode.TextEditor | undefined {
  const address = vscode.Uri.parse(uri).toString();
  return vscode.window.visibleTextEditors.find(
    ({ document }) => document.uri.toString() === address,
  );
}
