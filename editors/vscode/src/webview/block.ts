// One section on the page: a head that folds it, and its text as Markdown or as it is sent.

import type { Block } from '../wire';
import { button, element } from './dom';
import { elementsOf, type Token } from './tokens';

export type Mode = 'markdown' | 'text';
/** The text under the heading, and what is said below it on how the model opens the section. */
export type Part = 'body' | 'suffix';

export interface BlockActions {
  fold(id: string): void;
  change(change: 'open' | 'close', key: string): void;
  reveal(id: string): void;
  markdown(block: Block, part: Part): readonly Token[];
}

const PARTS: readonly Part[] = ['body', 'suffix'];

const SEGMENT_TITLES: Record<string, string> = {
  param: 'value of a parameter',
  default: 'default of a parameter',
  derived: 'made by the section',
  suffix: 'how the model opens the section',
};

/** The element of one block. It stays the same element, with its focus, whatever the block becomes. */
export class BlockView {
  readonly root: HTMLElement;
  private readonly role = element('div.role');
  private readonly fold: HTMLButtonElement;
  private readonly heading: HTMLElement;
  private readonly badge: HTMLElement;
  private readonly costs: HTMLElement;
  private readonly change: HTMLButtonElement;
  private readonly source: HTMLButtonElement;
  private readonly body: HTMLElement;
  private shown = '';
  private mode: Mode = 'markdown';

  constructor(
    private block: Block,
    private readonly actions: BlockActions,
  ) {
    const { id } = block;
    const bodyId = `body-${id}`;
    this.fold = button('fold', { 'aria-controls': bodyId, 'aria-expanded': 'true' }, () =>
      actions.fold(id),
    );
    this.heading = element('div.heading', { role: 'heading' }, this.fold);
    this.badge = element('span.badge');
    this.costs = element('span.costs');
    this.change = button('change', {}, () => {
      this.change.disabled = true;
      actions.change(this.block.opened ? 'close' : 'open', this.block.key);
    });
    this.source = button('source', { title: 'Go to the source of this section' }, () =>
      actions.reveal(id),
    );
    this.source.append('↗');
    this.body = element('div.body', { id: bodyId });
    this.root = element(
      'section.block',
      { 'data-id': id },
      this.role,
      element('div.head', {}, this.heading, this.source, this.costs, this.badge, this.change),
      this.body,
    );
  }

  get key(): string {
    return this.block.key;
  }

  /** Says in front of the section that a message of this role begins with it. */
  begins(role: string | null): void {
    this.role.hidden = role === null;
    this.role.textContent = role === null ? '' : `${role} message`;
  }

  /** Shows the block; touches the page only where something differs. True when the text differs. */
  update(block: Block, mode: Mode, reveals: boolean): boolean {
    this.block = block;
    const label = [block.number, block.title].filter(Boolean).join(' ') || block.key;
    this.heading.setAttribute('aria-level', String(Math.min(block.depth + 2, 6)));
    this.root.style.setProperty('--depth', String(block.depth));
    this.fold.replaceChildren(
      element('span.twist', { 'aria-hidden': 'true' }),
      ...(block.number ? [element('span.number', {}, block.number)] : []),
      element('span.title', {}, block.title || block.key),
    );
    const summary = block.visibility === 'SUMMARY';
    this.root.classList.toggle('summary', summary);
    this.root.classList.toggle('opened', block.opened);
    this.root.classList.toggle('disabled', !block.enabled);
    const state = badgeOf(block);
    this.badge.textContent = state;
    this.badge.hidden = state === '';
    this.costs.replaceChildren(...costsOf(block));
    this.change.hidden = !(block.enabled && (summary || block.opened));
    this.change.textContent = block.opened ? 'Close' : 'Open';
    this.change.setAttribute('aria-label', `${block.opened ? 'Close' : 'Open'} ${label}`);
    this.source.hidden = block.location === null || !reveals;
    this.source.setAttribute('aria-label', `Go to the source of ${label}`);
    const text = JSON.stringify([block.text, block.segments, block.error]);
    const differs = text !== this.shown;
    if (differs || mode !== this.mode) {
      this.body.replaceChildren(mode === 'text' ? asText(block) : this.asMarkdown());
      this.shown = text;
      this.mode = mode;
    }
    return differs;
  }

  setFolded(folded: boolean, hidden: boolean): void {
    this.fold.setAttribute('aria-expanded', String(!folded));
    this.body.hidden = folded;
    this.root.hidden = hidden;
  }

  settle(): void {
    this.change.disabled = false;
  }

  private asMarkdown(): Node {
    const { error } = this.block;
    if (error) {
      return element('div.error', { role: 'alert' }, error.message);
    }
    const fragment = document.createDocumentFragment();
    const [body, suffix] = PARTS.map((part) => this.actions.markdown(this.block, part));
    fragment.append(element('div.markdown', {}, elementsOf(body ?? [])));
    if (suffix !== undefined && suffix.length > 0) {
      const title = SEGMENT_TITLES.suffix ?? '';
      fragment.append(element('div.suffix', { title }, elementsOf(suffix)));
    }
    return fragment;
  }
}

function badgeOf(block: Block): string {
  if (!block.enabled) {
    return 'disabled';
  }
  return block.visibility === 'SUMMARY' ? 'summary' : block.opened ? 'opened' : '';
}

/** The Markdown of one part of a block. */
export function textOf(block: Block, part: Part): string {
  const own = block.segments.filter(({ kind }) =>
    part === 'suffix' ? kind === 'suffix' : kind !== 'heading' && kind !== 'suffix',
  );
  return own.map((segment) => segment.text).join('');
}

/** What the block costs: itself, with what is shown below it, and once it is opened. */
function costsOf({ tokens }: Block): Node[] {
  if (tokens === undefined) {
    return [];
  }
  const costs = [cost('', tokens.self, tokens.self === 1 ? 'token' : 'tokens', 'Its own text')];
  if (tokens.subtree !== tokens.self) {
    costs.push(cost('subtree', tokens.subtree, 'in all', 'With the sections below it'));
  }
  if (tokens.if_opened !== null) {
    costs.push(cost('if-opened', tokens.if_opened, 'opened', 'Once it is opened'));
  }
  return costs;
}

function cost(kind: string, count: number, word: string, title: string): HTMLElement {
  return element('span', { class: `cost ${kind}`, title }, `${count.toLocaleString('en')} ${word}`);
}

/** The very characters that the model gets, with what was filled in marked. */
function asText(block: Block): Node {
  const spans = block.segments.map((segment) => {
    const title = SEGMENT_TITLES[segment.kind];
    const field = segment.field ? `${segment.field}: ` : '';
    return element(
      'span',
      { class: `segment ${segment.kind}`, ...(title ? { title: field + title } : {}) },
      segment.text,
    );
  });
  return element('pre.text', {}, ...spans);
}
