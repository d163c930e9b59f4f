// The page in a browser: fed by server-sent events, with what is done in it sent back.

import type { Action, AnyAction, Notice, View } from '../preview/messages';
import { staleNotice } from '../preview/stale';
import type { Block, Preview, SectionText } from '../wire';
import type { Part } from './block';
import { Page, type PageState } from './page';
import { showSaved } from './saved';
import { themeSwitch } from './theme';
import type { Token } from './tokens';

interface News extends Omit<Preview, 'blocks'> {
  blocks: (Block & { markdown: Record<Part, Token[]> })[];
  whole: boolean;
  reveals: boolean;
}

/** What is shown before anything came. */
const NOTHING: View = {
  ...{ uri: '', name: '', fidelity: '', order: [], blocks: [], whole: true, reveals: false },
  notice: { kind: 'loading', text: 'Loading the preview…', actions: [] },
};

const STATE = 'foldline';

class Browser {
  private readonly page: Page;
  private last = NOTHING;
  private stale: Notice | null = null;
  /** What came in between is told once more when the connection is back. */
  private lost: Notice | null = null;

  constructor() {
    // The token in the address is spent; reloading works by the cookie.
    history.replaceState(null, '', location.pathname);
    this.page = new Page({
      inEditor: false,
      perform: (action) => this.perform(action),
      load: () => JSON.parse(sessionStorage.getItem(STATE) ?? '{}') as Partial<PageState>,
      save: (state) => sessionStorage.setItem(STATE, JSON.stringify(state)),
      markdown,
      markdownOf: (section) => (section as SectionText & { markdown: Token[] }).markdown,
      extra: themeSwitch(),
    });
    this.page.show(NOTHING);
    const events = new EventSource('events');
    events.addEventListener('message', ({ data }: MessageEvent<string>) => {
      this.lost = null;
      this.receive(JSON.parse(data) as News);
    });
    events.addEventListener('over', () => {
      events.close();
      this.lose('The preview was closed.');
    });
    events.addEventListener('error', () =>
      this.lose(
        events.readyState === EventSource.CLOSED
          ? 'The preview is no longer served.'
          : 'The preview does not respond. Trying again every few seconds.',
      ),
    );
  }

  private lose(text: string): void {
    this.lost = { kind: 'stopped', text, actions: [] };
    this.show(this.last);
  }

  private receive(news: News): void {
    const { stale, order, fidelity, uri } = news;
    this.stale = stale && {
      ...staleNotice(stale, order.length > 0, fidelity, uri),
      actions: [],
    };
    document.title = `${news.name || 'Preview'} · foldline`;
    this.last = { ...news, blocks: [], whole: false, notice: null };
    this.show({ ...news, notice: null });
  }

  private show(view: View): void {
    this.page.show({ ...view, notice: this.lost ?? this.stale });
  }

  private async perform(action: AnyAction): Promise<unknown> {
    switch (action.action) {
      case 'copy':
        return navigator.clipboard.writeText(action.text);
      case 'notice':
      case 'document':
      case 'compare':
        throw new Error('Only an editor can do that.');
      default:
        return send(action);
    }
  }
}

/** Performs an action; rejects with the reason if the server refused it. */
async function send(action: Action): Promise<unknown> {
  const answer = await fetch('actions', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(action),
  }).catch((error: unknown) => {
    throw new Error(`The preview did not answer: ${String(error)}`);
  });
  if (!answer.ok) {
    throw new Error((await answer.text()).trim());
  }
  return answer.status === 204 ? undefined : answer.json();
}

/** The server has parsed it. */
function markdown(block: Block, part: Part): readonly Token[] {
  return (block as News['blocks'][number]).markdown[part];
}

const saved = document.getElementById('saved');
if (saved === null) {
  new Browser();
} else {
  showSaved(saved.textContent, markdown);
}
