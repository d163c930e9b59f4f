// One section on the page: a head that folds it, and its text as Markdown or as it is sent.

import type { Block, CachePlan } from '../wire';
import { button, element } from './dom';
import { amount, counted, ifOpened } from './numbers';
import { offsetsOf } from './offsets';
import { elementsOf, type Token } from './tokens';
import { reasonOf } from './reasons';

export type Mode = 'markdown' | 'text';
/** The text under the heading, and what is said below it on how the model opens the section. */
export type Part = 'body' | 'suffix';

export interface BlockActions {
  fold(id: string): void;
  /** Settles when the section is open or closed, or was refused. */
  change(change: 'openSections' | 'closeSections', key: string, reason?: string): Promise<void>;
  /** The Markdown of a section that stays closed. */
  read(key: string): Promise<readonly Token[]>;
  reveal(key: string): void;
  go(file: string, line: number): void;
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
  private readonly read: HTMLButtonElement;
  private readonly why: HTMLButtonElement;
  private readonly source: HTMLButtonElement;
  private readonly aside = element('div.aside');
  private readonly body: HTMLElement;
  private shown = '';
  /** What the Markdown of each part was parsed to, and the node that shows each token. */
  private readonly parsed = new Map<Part, [readonly Token[], Map<Token, Node>]>();
  private places: Map<Node, number[]> | null = null;
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
    this.change = button('change', {}, () => void this.toggle());
    this.read = button(
      'quiet read',
      { title: 'Read the whole section without opening it', 'aria-expanded': 'false' },
      () => void this.toggleText(),
      'Read',
    );
    this.why = button('quiet', { title: 'Open with a reason' }, () => this.askReason(), '…');
    this.source = button(
      'source',
      { title: 'Go to the source of this section' },
      () => actions.reveal(this.block.key),
      '↗',
    );
    this.aside.hidden = true;
    this.body = element('div.body', { id: bodyId });
    this.root = element(
      'section.block',
      { 'data-id': id },
      this.role,
      element(
        'div.head',
        {},
        this.heading,
        element(
          'span.side',
          {},
          this.source,
          this.costs,
          this.badge,
          element('span.doings', {}, this.read, element('span.split', {}, this.change, this.why)),
        ),
      ),
      this.aside,
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
  update(block: Block, mode: Mode, reveals: boolean, plan: CachePlan | null, about = ''): boolean {
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
    this.costs.replaceChildren(...costsOf(block, plan, about));
    this.change.hidden = !(block.enabled && (summary || block.opened));
    this.change.textContent = block.opened ? 'Close' : 'Open';
    this.change.setAttribute('aria-label', `${block.opened ? 'Close' : 'Open'} ${label}`);
    this.read.hidden = this.why.hidden = !(block.enabled && summary);
    this.read.setAttribute('aria-label', `Read ${label}`);
    this.why.setAttribute('aria-label', `Reason for opening ${label}`);
    if (!summary) {
      this.closeAside();
    }
    this.source.hidden = block.location === null || !reveals;
    this.source.setAttribute('aria-label', `Go to the source of ${label}`);
    const text = JSON.stringify([block.text, block.segments, block.error]);
    const differs = text !== this.shown;
    this.places = null;
    if (differs || mode !== this.mode) {
      this.body.replaceChildren(mode === 'text' ? asText(block) : this.asMarkdown());
      this.shown = text;
      this.mode = mode;
    }
    return differs;
  }

  setFolded(folded: boolean, hidden: boolean): void {
    this.root.classList.toggle('folded', folded);
    this.aside.hidden = folded || this.aside.childElementCount === 0;
    this.fold.setAttribute('aria-expanded', String(!folded));
    this.body.hidden = folded;
    this.root.hidden = hidden;
  }

  /** Whether the editor's cursor is in it. */
  setCurrent(current: boolean): void {
    this.root.classList.toggle('current', current);
    if (current) {
      this.root.setAttribute('aria-current', 'location');
    } else {
      this.root.removeAttribute('aria-current');
    }
  }

  /** The offset in the block's text of a character that a node shows; null if it isn't known. */
  offsetAt(node: Node, index: number): number | null {
    const at = this.located().get(node)?.[index] ?? -1;
    return at < 0 ? null : at;
  }

  /** The ranges of the page that show a part of the block's text. */
  rangesOf(start: number, end: number): Range[] {
    const found: Range[] = [];
    for (const [node, places] of this.located()) {
      for (let at = 0; at < places.length; at++) {
        const first = at;
        while (at < places.length && (places[at] ?? -1) >= start && (places[at] ?? end) < end) {
          at++;
        }
        if (at > first) {
          const range = document.createRange();
          range.setStart(node, first);
          range.setEnd(node, at);
          found.push(range);
        }
      }
    }
    return found;
  }

  /** Where the characters of each text node stand in the block's text. */
  private located(): Map<Node, number[]> {
    if (this.places !== null) {
      return this.places;
    }
    const found = (this.places = new Map<Node, number[]>());
    const { segments, title } = this.block;
    const heading = segments[0]?.kind === 'heading' ? segments[0].text : '';
    const named = this.fold.querySelector('.title')?.firstChild;
    if (named && heading.endsWith(title)) {
      found.set(named, upFrom(heading.length - title.length, title.length));
    }
    if (this.mode === 'text') {
      let at = 0;
      this.body.querySelectorAll('.segment').forEach(({ firstChild }) => {
        const size = firstChild?.nodeValue?.length ?? 0;
        if (firstChild) {
          found.set(firstChild, upFrom(at, size));
        }
        at += size;
      });
      return found;
    }
    for (const [part, [tokens, nodes]] of this.parsed) {
      let start = 0;
      const own = segments.flatMap((segment) => {
        const { length } = segment.text;
        start += length;
        return isOf(segment, part) ? upFrom(start - length, length) : [];
      });
      for (const [token, places] of offsetsOf(tokens, textOf(this.block, part))) {
        const node = nodes.get(token);
        const inside = node && document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
        const shown = node instanceof Text ? node : inside?.nextNode();
        if (shown?.nodeValue === token.content) {
          found.set(
            shown,
            places.map((at) => own[at] ?? -1),
          );
        }
      }
    }
    return found;
  }

  private async toggle(reason?: string): Promise<void> {
    this.change.disabled = true;
    await this.actions.change(
      this.block.opened ? 'closeSections' : 'openSections',
      this.block.key,
      reason,
    );
    this.change.disabled = false;
  }

  private async toggleText(): Promise<void> {
    if (this.read.getAttribute('aria-expanded') === 'true') {
      this.closeAside();
      return;
    }
    let shown: HTMLElement;
    try {
      const tokens = await this.actions.read(this.block.key);
      // The heading stands above.
      const own = tokens[0]?.type === 'heading_open' ? 3 : 0;
      shown = element(
        'div.whole',
        { tabindex: '0', role: 'group', 'aria-label': 'The whole section' },
        element('p.doc', {}, 'The whole section. It isn’t part of the prompt until it is opened.'),
        elementsOf(tokens.slice(own)),
      );
    } catch (error) {
      const reason = reasonOf(error);
      shown = element('p.problem', { role: 'alert' }, reason);
    }
    this.showAside(shown);
    this.read.setAttribute('aria-expanded', 'true');
  }

  private askReason(): void {
    const reason = element('input', {
      type: 'text',
      'aria-label': 'Reason to open it',
      placeholder: 'Why? The prompt\u2019s tool is told.',
    });
    reason.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        void this.toggle(reason.value);
      } else if (event.key === 'Escape') {
        this.closeAside();
        this.why.focus();
      }
      event.stopPropagation();
    });
    const open = button('', {}, () => void this.toggle(reason.value), 'Open');
    this.showAside(element('div.row', {}, reason, open));
    reason.focus();
  }

  private showAside(content: HTMLElement): void {
    this.read.setAttribute('aria-expanded', 'false');
    this.aside.replaceChildren(content);
    this.aside.hidden = false;
  }

  private closeAside(): void {
    this.read.setAttribute('aria-expanded', 'false');
    this.aside.replaceChildren();
    this.aside.hidden = true;
  }

  private asMarkdown(): Node {
    const { error } = this.block;
    this.parsed.clear();
    if (error) {
      const { file, line } = error;
      const link =
        file && line
          ? button('link', {}, () => this.actions.go(file, line), `Go to line ${line}`)
          : null;
      return element('div.error', {}, element('div', { role: 'alert' }, error.message), link);
    }
    const fragment = document.createDocumentFragment();
    const [body, suffix] = PARTS.map((part) => this.elementsOf(part));
    fragment.append(element('div.markdown', {}, body));
    if (suffix?.hasChildNodes()) {
      const title = SEGMENT_TITLES.suffix ?? '';
      fragment.append(element('div.suffix', { title }, suffix));
    }
    return fragment;
  }

  private elementsOf(part: Part): DocumentFragment {
    const tokens = this.actions.markdown(this.block, part);
    const nodes = new Map<Token, Node>();
    this.parsed.set(part, [tokens, nodes]);
    return elementsOf(tokens, (token, node) => nodes.set(token, node));
  }
}

function badgeOf(block: Block): string {
  if (!block.enabled) {
    return 'off';
  }
  return block.visibility === 'SUMMARY' ? 'summarized' : block.opened ? 'opened' : '';
}

/** The Markdown of one part of a block. */
export function textOf(block: Block, part: Part): string {
  const own = block.segments.filter((segment) => isOf(segment, part));
  return own.map((segment) => segment.text).join('');
}

function isOf({ kind }: { kind: string }, part: Part): boolean {
  return part === 'suffix' ? kind === 'suffix' : kind !== 'heading' && kind !== 'suffix';
}

function upFrom(start: number, length: number): number[] {
  return Array.from({ length }, (_, index) => start + index);
}

/** What the block costs: itself, with what is below it, and if opened; `about` is `~` or empty. */
function costsOf({ tokens, enabled, error }: Block, plan: CachePlan | null, about: string): Node[] {
  if (tokens === undefined || !enabled || error) {
    return [];
  }
  const parent = tokens.subtree !== tokens.self;
  const costs = [
    cost(parent ? 'own parent' : 'own', about + counted(tokens.self, 'token'), 'Its own text'),
  ];
  if (parent) {
    const title = 'With the sections below it';
    costs.push(cost('subtree', `${about}${amount(tokens.subtree)} in all`, title));
  }
  if (tokens.if_opened !== null) {
    costs.push(cost('if-opened', ifOpened(tokens.if_opened, plan, about), OPENING));
  }
  return costs;
}

const OPENING =
  'What the next request costs more or less once this section is open: its text and its tools in, ' +
  'its summary and tools that nothing needs any more out.';

function cost(kind: string, words: string, title: string): HTMLElement {
  return element('span', { class: `cost ${kind}`, title }, words);
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
