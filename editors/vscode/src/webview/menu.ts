// What isn't needed at once: a list that closes when something in it was chosen.

import { element } from './dom';

export class Menu {
  readonly root = element('details.menu');
  readonly summary: HTMLElement;
  private readonly items = element('div.items');

  constructor(label: string) {
    this.summary = element('summary', { 'aria-label': label, title: label }, '⋯');
    this.root.append(this.summary, this.items);
    this.items.addEventListener('click', ({ target }) => {
      if ((target as Element).closest('button') !== null) {
        this.close();
      }
    });
    this.root.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') {
        this.close();
      }
    });
    this.root.addEventListener('focusout', ({ relatedTarget }) => {
      if (relatedTarget !== null && !this.root.contains(relatedTarget as Node)) {
        this.root.open = false;
      }
    });
    document.addEventListener('click', ({ target }) => {
      if (!this.root.contains(target as Node)) {
        this.root.open = false;
      }
    });
  }

  /** Adds a group of entries below the others. */
  add(...entries: (Node | false | undefined)[]): void {
    this.items.append(element('div.group', {}, ...entries));
  }

  /** The focus goes back to where it was, unless what was chosen has taken it. */
  private close(): void {
    this.root.open = false;
    const { activeElement } = document;
    if (activeElement === document.body || this.root.contains(activeElement)) {
      this.summary.focus();
    }
  }
}
