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

function settle(id: number): Pending | undefined {
  const request = pending.get(id);
  pending.delete(id);
  return request;
}

const page = new Page({
  inEditor: true,
  perform,
  load: () => vscode.getState() ?? {},
  save: (state) => vscode.setState(state),
  markdown: (block, part) => parseMarkdown(textOf(block, part)),
  markdownOf: ({ text }) => parseMarkdown(text),
  pointed: (key) => vscode.postMessage({ type: 'pointed', key }),
  scrolled: (place) => vscode.postMessage({ type: 'scrolled', place }),
});

addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
  switch (data.type) {
    case 'view':
      page.show(data.view);
      break;
    case 'mark':
      page.mark(data.key, data.reveal);
      break;
    case 'characters':
      page.markCharacters(data.parts, data.reveal);
      break;
    case 'scroll':
      page.scrollTo(data.place);
      break;
    case 'response':
      settle(data.id)?.resolve(data.value);
      break;
    case 'refusal':
      settle(data.id)?.reject(new Error(data.reason));
      break;
  }
});
vscode.postMessage({ type: 'ready', chosen: vscode.getState()?.chosen ?? null });
