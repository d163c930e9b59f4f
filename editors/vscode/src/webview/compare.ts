// Compares with the step before or a revision: here, or in the editor's own comparison.

import type { AnyAction } from '../preview/messages';
import type { Comparison, History } from '../wire';
import { diffOf } from './diff';
import { button, element } from './dom';
import { reasonOf } from './reasons';

export class Compare {
  readonly root = element('div.compare');
  private readonly sides = element('p.doc');
  private readonly revision = element('input', {
    type: 'text',
    placeholder: 'branch or revision',
    'aria-label': 'Branch or revision',
    spellcheck: 'false',
  });
  private readonly found = element('div', { 'aria-live': 'polite' });
  private readonly back: HTMLButtonElement;

  constructor(
    private readonly perform: (action: AnyAction) => Promise<unknown>,
    private readonly inEditor: boolean,
  ) {
    this.back = button('', {}, () => void this.run(() => this.previous()), 'Previous Step');
    const chosen = button(
      '',
      {},
      () => this.withRevision(this.revision.value),
      'Compare with Revision',
    );
    this.revision.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        this.withRevision(this.revision.value);
      }
    });
    this.root.append(
      this.sides,
      element(
        'div.row',
        {},
        this.back,
        button('', {}, () => this.withRevision('HEAD'), 'HEAD'),
        this.revision,
        chosen,
      ),
      this.found,
    );
  }

  show(steps: boolean, set: string | null): void {
    this.back.hidden = !steps;
    const values = set === null ? 'these values' : `set ${set}`;
    this.sides.textContent = `Compares this prompt (${values}, sections as opened now) with its source at HEAD or another git revision.`;
  }

  private withRevision(revision: string): void {
    if (revision.trim() !== '') {
      void this.run(() => this.ask({ revision: revision.trim() }));
    }
  }

  /** The version in front of the one that first showed the last step. */
  private async previous(): Promise<void> {
    const { steps, versions } = (await this.perform({ action: 'history' })) as History;
    const last = steps.at(-1)?.version ?? 1;
    await this.ask({
      before: versions.filter((version) => version < last).at(-1) ?? versions[0] ?? 1,
    });
  }

  private async ask(side: { before?: number; revision?: string }): Promise<void> {
    if (this.inEditor) {
      const same = (await this.perform({ action: 'compare', ...side })) as string | undefined;
      this.found.replaceChildren(same === undefined ? '' : element('p.doc', {}, same));
    } else {
      const found = (await this.perform({ action: 'diff', ...side })) as Comparison;
      this.found.replaceChildren(diffOf(found));
    }
  }

  private async run(compare: () => Promise<void>): Promise<void> {
    try {
      await compare();
    } catch (error) {
      const reason = reasonOf(error);
      this.found.replaceChildren(element('p.problem', { role: 'alert' }, reason));
    }
  }
}
