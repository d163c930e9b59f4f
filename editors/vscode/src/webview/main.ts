import type { FromPage, ToPage } from '../preview/messages';
import { textOf } from './block';
import { parseMarkdown } from './markdown';
import { Page, type PageState } from './page';

declare function acquireVsCodeApi(): {
  postMessage(message: FromPage): void;
  getState(): PageState | undefined;
  setState(state: PageState): void;
};

const vscode = acquireVsCodeApi();
const page = new Page({
  post: (message) => vscode.postMessage(message),
  load: () => vscode.getState() ?? {},
  save: (state) => vscode.setState(state),
  markdown: (block, part) => parseMarkdown(textOf(block, part)),
});

addEventListener('message', (event: MessageEvent<ToPage>) => page.receive(event.data));
