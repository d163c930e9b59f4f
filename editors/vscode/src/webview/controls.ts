// What a browser has in the bar and an editor has elsewhere: the values that are shown, and undo.

import { button, element } from './dom';

export interface ParameterSet {
  name: string;
}

export class Controls {
  readonly root = element('span.controls');
  private readonly sets = element('select', {
    'aria-label': 'Parameter set',
    title: 'The values that the prompt is rendered with',
  });
  private readonly undo: HTMLButtonElement;
  private readonly reset: HTMLButtonElement;

  constructor(act: (action: 'undo' | 'reset' | 'set', key: string) => void) {
    this.undo = button('', { title: 'Undo the last step' }, () => act('undo', ''));
    this.undo.append('Undo');
    this.reset = button('', { title: 'Show the prompt as it first was' }, () => act('reset', ''));
    this.reset.append('Reset');
    this.sets.addEventListener('change', () => act('set', this.sets.value));
    this.root.append(this.sets, this.undo, this.reset);
  }

  /** `steps` are those that were taken, the first of which is the beginning. */
  show(sets: readonly ParameterSet[], chosen: string | null, steps: number): void {
    this.undo.hidden = this.reset.hidden = steps < 2;
    this.sets.hidden = sets.length === 0;
    const names = [...sets.map(({ name }) => name), 'none'];
    // A list that is open stays open.
    if (names.join('\n') !== [...this.sets.options].map(({ value }) => value).join('\n')) {
      this.sets.replaceChildren(...names.map((name) => element('option', { value: name }, name)));
    }
    this.sets.value = chosen ?? 'none';
  }
}
