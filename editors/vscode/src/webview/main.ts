// The page in a panel of VS Code, whose extension does what is asked for.

import type { AnyAction, FromPage, ToPage } from '../preview/messages';
import { textOf } from './block';
import { parseMarkdown } from './markdown';
import { Page, type PageState } from './page';

declare function acquireVsCodeApi(): {
  postMessage(message: FromPage): void;
  getState(): PageState | undefined;
  setState(state: PageState): void;
};

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const vscode = acquireVsCodeApi();
const pending = new Map<number, Pending>();
let requests = 0;

function perform(action: AnyAction): Promise<unknown> {
  const id = ++requests;
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    vscode.postMessage({ type: 'request', id, action });
  });
}

const page = new Page({
  inEditor: true,
  perform,
  load: () => vscode.getState() ?? {},
  save: (state) => vscode.setState(state),
  markdown: (block, part) => parseMarkdown(textOf(block, part)),
});

addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
  if (data.type === 'view') {
    page.show(data.view);
    return;
  }
  const asked = pending.get(data.id);
  pending.delete(data.id);
  if (data.type === 'response') {
    asked?.resolve(data.value);
  } else {
    asked?.reject(new Error(data.reason));
  }
});
vscode.postMessage({ type: 'ready', chosen: vscode.getState()?.chosen ?? null });
