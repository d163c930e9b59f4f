// The preview in step with an editor: the section of the cursor is marked, that of the pointer is
// told, and where the user scrolls to. What scrolls by itself is not told: nobody asked for it.

import type { Place } from '../preview/messages';
import type { BlockView } from './block';

interface Listener {
  pointed?(key: string | null): void;
  scrolled?(place: Place): void;
}

export class InStep {
  private marked: string | null = null;
  private pointed: string | null = null;
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
