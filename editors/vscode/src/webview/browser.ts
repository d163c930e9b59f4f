// The page in a browser: fed by server-sent events, with what is done in it sent back.

import type { FromPage, Notice } from '../preview/messages';
import { staleNotice } from '../preview/stale';
import type { Block, Preview } from '../wire';
import type { Part } from './block';
import { Controls, type ParameterSet } from './controls';
import { Page, type PageState } from './page';
import type { Token } from './tokens';

interface News extends Omit<Preview, 'blocks'> {
  blocks: (Block & { markdown: Record<Part, Token[]> })[];
  whole: boolean;
  reveals: boolean;
  parameter_sets: ParameterSet[];
  parameter_set: string | null;
  steps: number;
}

const STATE = 'foldline';

class Browser {
  private readonly page: Page;
  private readonly controls = new Controls((action, key) => void this.send(action, key));
  private readonly keys = new Map<string, string>();
  private last: News | null = null;
  /** What came in between is told once more when the connection is back. */
  private lost: Notice | null = null;
  private refusal: Notice | null = null;

  constructor() {
    // The token in the address is spent; reloading works by the cookie.
    history.replaceState(null, '', location.pathname);
    this.page = new Page({
      post: (message) => void this.act(message),
      load: () => JSON.parse(sessionStorage.getItem(STATE) ?? '{}') as Partial<PageState>,
      save: (state) => sessionStorage.setItem(STATE, JSON.stringify(state)),
      controls: this.controls.root,
      markdown: (block, part) => (block as News['blocks'][number]).markdown[part],
    });
    const events = new EventSource('events');
    events.addEventListener('message', ({ data }: MessageEvent<string>) => {
      this.lost = this.refusal = null;
      this.show(JSON.parse(data) as News);
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
    this.showAgain();
  }

  private show(news: News): void {
    for (const { id, key } of news.blocks) {
      this.keys.set(id, key);
    }
    this.last = { ...news, blocks: [], whole: false };
    document.title = `${news.name || 'Preview'} · foldline`;
    this.controls.show(news.parameter_sets, news.parameter_set, news.steps);
    const { uri, name, fidelity, order, blocks, whole, tools, tokens, kept, cache, effects } = news;
    this.page.receive({
      type: 'view',
      view: {
        ...{ uri, name, fidelity, order, blocks, whole, tools, tokens, kept, cache, effects },
        reveals: news.reveals,
        notice: this.noticeOf(news),
      },
    });
  }

  private showAgain(): void {
    this.show(this.last ?? NOTHING);
  }

  private noticeOf({ stale, order, fidelity }: News): Notice | null {
    const old = stale && { ...staleNotice(stale, order.length > 0, fidelity), actions: [] };
    return this.lost ?? this.refusal ?? old;
  }

  private async act(message: FromPage): Promise<void> {
    if (message.type === 'ready' || message.type === 'action') {
      return;
    }
    const key = message.type === 'reveal' ? this.keys.get(message.id) : message.key;
    await this.send(message.type, key ?? '');
    if (message.type !== 'reveal') {
      this.page.receive({ type: 'settled', key: message.key });
    }
  }

  private async send(action: string, key: string): Promise<void> {
    const refused = await send({ action, key });
    if (refused !== null) {
      this.refusal = { kind: 'failed', text: refused, actions: [] };
      this.showAgain();
    }
  }
}

const NOTHING: News = {
  ...{ sessionId: '', uri: '', name: '', version: null, fidelity: '', order: [], blocks: [] },
  ...{
    tools: [],
    tokens: null,
    kept: null,
    cache: null,
    effects: [],
    stale: null,
    whole: true,
    reveals: false,
  },
  ...{ parameter_sets: [], parameter_set: null, steps: 1 },
};

/** Performs an action; returns the reason if the server refused it. */
async function send(action: { action: string; key: string }): Promise<string | null> {
  try {
    const answer = await fetch('actions', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(action),
    });
    return answer.ok ? null : await answer.text();
  } catch (error) {
    return `The preview did not answer: ${String(error)}`;
  }
}

new Browser();
