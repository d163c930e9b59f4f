// The chapters of the prompt: open, close, or why one can't open.

import type { Chapter } from '../wire';
import { button, element, withCode } from './dom';
import { reasonOf } from './reasons';

export class Chapters {
  readonly root = element('div');
  private readonly shown = element('p.doc');
  private readonly rows = element('ul.chapters');

  constructor(
    private readonly change: (open: boolean, key: string, reason: string) => Promise<unknown>,
  ) {
    this.root.append(this.shown, this.rows);
  }

  show(chapters: readonly Chapter[], shown: string): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.chapter;
    this.shown.replaceChildren(...withCode(`Chapters: ${shown}.`));
    this.rows.replaceChildren(...chapters.map((chapter) => this.row(chapter)));
    this.rows.querySelector<HTMLElement>(`[data-chapter="${CSS.escape(focused ?? '')}"]`)?.focus();
  }

  private row(chapter: Chapter): HTMLElement {
    const { key, title, open } = chapter;
    const reason = element('input', {
      type: 'text',
      placeholder: 'reason',
      'aria-label': `Reason to open ${title}`,
    });
    const refusal = element('p.problem', { role: 'alert' });
    const toggle = button(
      open ? '' : 'primary',
      {
        'data-chapter': key,
        'aria-label': `${open ? 'Close' : 'Open'} chapter ${title}`,
      },
      () => {
        this.change(!open, key, reason.value).catch((error: unknown) => {
          refusal.textContent = reasonOf(error);
        });
      },
      open ? 'Close' : 'Open',
    );
    toggle.disabled = !open && !chapter.may_open;
    reason.hidden = open || !chapter.may_open;
    const why = chapter.reasons.join('; ');
    const state = open ? 'open' : chapter.may_open ? 'closed' : 'can\u2019t open';
    return element(
      'li',
      {},
      element(
        'div.row',
        {},
        element('strong', {}, title || key),
        element('span.badge', {}, state),
        element('span.space'),
        reason,
        toggle,
      ),
      chapter.description !== null && element('p.doc', {}, chapter.description),
      element(
        'p.doc',
        {},
        ...withCode(
          chapter.may_open ? 'Can be opened.' : `Can\u2019t be opened with these values: ${why}.`,
        ),
      ),
      refusal,
    );
  }
}
