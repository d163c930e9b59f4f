// The preview in step with an editor: the section of the cursor is marked, that of the pointer is
// told, and where the user scrolls to. With Ctrl or ⌘, a click goes to the source of a character. What scrolls by itself is not told: nobody asked for it.

import type { Place } from '../preview/messages';
import type { Occurrence } from '../wire';
import type { BlockView } from './block';
import { caretAt } from './dom';

/** The names of the marks in the style sheet: what the cursor is on, and what a click would be on. */
const [MARK, WORD] = ['foldline-mark', 'foldline-word'];

interface Listener {
  /** The user clicked on a character, or on something of a section that has no place. */
  traced(key: string, offset: number): void;
  pointed?(key: string | null): void;
  scrolled?(place: Place): void;
}

interface Character {
  node: Node;
  index: number;
  offset: number;
}

export class InStep {
  private marked: string | null = null;
  private pointed: string | null = null;
  private parts: readonly Occurrence[] = [];
  /** Where the page was put by itself. */
  private placed = 0;

  constructor(
    private readonly listener: Listener,
    text: HTMLElement,
    /** The sections in the order of the text. */
    private readonly views: () => BlockView[],
    /** The lower edge of what stays in view. */
    private readonly edge: () => number,
  ) {
    const pointAt = ({ target }: Event): void => {
      const root = (target as Element | null)?.closest<HTMLElement>('.block') ?? null;
      this.point(root && (this.views().find((view) => view.root === root)?.key ?? null));
    };
    text.addEventListener('mouseover', pointAt);
    text.addEventListener('focusin', pointAt);
    text.addEventListener('mouseleave', () => this.point(null));
    text.addEventListener('focusout', () => this.point(null));
    addEventListener('scroll', () => this.scrolled(), { passive: true });
    text.addEventListener('click', (event) => this.clicked(event), { capture: true });
    const underline = (event: MouseEvent): void => {
      const on = event.ctrlKey || event.metaKey ? this.characterAt(event) : null;
      text.classList.toggle('tracing', event.ctrlKey || event.metaKey);
      highlight(WORD, on === null ? [] : [wordAround(on.node, on.index)]);
    };
    text.addEventListener('mousemove', underline);
    text.addEventListener('mouseleave', () => highlight(WORD, []));
    addEventListener('keyup', () => {
      text.classList.remove('tracing');
      highlight(WORD, []);
    });
  }

  /** Marks the characters that come from where the editor's cursor is, and may bring them in view. */
  markCharacters(parts: readonly Occurrence[], reveal: boolean): void {
    this.parts = parts;
    const first = this.redrawnCharacters()[0]?.getBoundingClientRect();
    if (reveal && first && (first.top < this.edge() || first.bottom > innerHeight)) {
      scrollBy({ top: first.top - this.edge() - (innerHeight - this.edge()) / 3 });
      this.moved();
    }
  }

  private redrawnCharacters(): Range[] {
    const ranges = this.parts.flatMap(({ id, start, end }) => {
      const view = this.views().find((one) => one.root.dataset.id === id);
      return view === undefined || view.root.hidden ? [] : view.rangesOf(start, end);
    });
    highlight(MARK, ranges);
    return ranges;
  }

  private clicked(event: MouseEvent): void {
    const view = event.ctrlKey || event.metaKey ? this.viewAt(event.target as Node) : undefined;
    if (view === undefined) {
      return;
    }
    const on = this.characterAt(event);
    event.preventDefault();
    event.stopPropagation();
    this.listener.traced(view.key, on?.offset ?? 0);
  }

  private viewAt(node: Node): BlockView | undefined {
    return this.views().find(({ root }) => root.contains(node));
  }

  /** The character under the pointer: its node, its place there, and that in the section's text. */
  private characterAt({ clientX: x, clientY: y }: MouseEvent): Character | null {
    const [node, caret] = caretAt(x, y) ?? [];
    const view = node?.nodeType === Node.TEXT_NODE ? this.viewAt(node) : undefined;
    if (node === undefined || caret === undefined || view === undefined) {
      return null;
    }
    // A caret is between two characters.
    for (const index of [caret, caret - 1]) {
      const { left, right, top, bottom } = rangeOf(node, index, index + 1).getBoundingClientRect();
      const offset = view.offsetAt(node, index);
      if (offset !== null && left <= x && x <= right && top <= y && y <= bottom) {
        return { node, index, offset };
      }
    }
    return null;
  }

  /** Marks a section, or the nearest one above it that is shown. */
  mark(key: string | null, reveal: boolean): void {
    this.marked = key;
    const view = this.redrawn();
    if (reveal && view !== undefined) {
      const { top, bottom } = view.root.getBoundingClientRect();
      const edge = this.edge();
      if (bottom < edge || top > innerHeight) {
        scrollBy({ top: top - edge });
        this.moved();
      }
    }
  }

  /** Marks what is marked after the sections have changed. */
  redrawn(): BlockView | undefined {
    const marked = this.marked === null ? undefined : this.shown(this.marked);
    this.redrawnCharacters();
    for (const view of this.views()) {
      view.setCurrent(view === marked);
    }
    return marked;
  }

  scrollTo({ key, share }: Place): void {
    const view = this.shown(key);
    if (view !== undefined) {
      const { top, height } = view.root.getBoundingClientRect();
      scrollBy({ top: top + (view.key === key ? share * height : 0) - this.edge() });
      this.moved();
    }
  }

  /** The page was scrolled, but not by the user. */
  moved(): void {
    this.placed = scrollY;
  }

  private scrolled(): void {
    if (Math.abs(scrollY - this.placed) < 1) {
      return;
    }
    this.placed = scrollY;
    const edge = this.edge();
    const top = this.views().find(
      ({ root }) => !root.hidden && root.getBoundingClientRect().bottom > edge + 1,
    );
    if (top !== undefined) {
      const { top: above, height } = top.root.getBoundingClientRect();
      const share = Math.min(Math.max((edge - above) / height, 0), 1);
      this.listener.scrolled?.({ key: top.key, share });
    }
  }

  private point(key: string | null): void {
    if (key !== this.pointed) {
      this.pointed = key;
      this.listener.pointed?.(key);
    }
  }

  private shown(key: string): BlockView | undefined {
    const views = this.views().filter(({ root }) => !root.hidden);
    for (let part = key; part !== ''; part = part.slice(0, Math.max(part.lastIndexOf('.'), 0))) {
      const view = views.find((one) => one.key === part);
      if (view !== undefined) {
        return view;
      }
    }
    return undefined;
  }
}

function highlight(name: string, ranges: Range[]): void {
  // Not every browser has them yet.
  (CSS.highlights as HighlightRegistry | undefined)?.set(name, new Highlight(...ranges));
}

function rangeOf(node: Node, start: number, end: number): Range {
  const { length } = node.nodeValue ?? '';
  const range = document.createRange();
  range.setStart(node, Math.min(Math.max(start, 0), length));
  range.setEnd(node, Math.min(Math.max(end, 0), length));
  return range;
}

function wordAround(node: Node, index: number): Range {
  const text = node.nodeValue ?? '';
  const before = /[\p{L}\p{N}_]*$/u.exec(text.slice(0, index))?.[0].length ?? 0;
  const after = /^[\p{L}\p{N}_]*/u.exec(text.slice(index))?.[0].length ?? 0;
  return rangeOf(node, index - before, index + Math.max(after, 1));
}
