// The steps that were taken: a slider over them, what each changed, and the way back.

import type { Action } from '../preview/messages';
import type { Comparison, History, Step } from '../wire';
import { diffOf } from './diff';
import { button, element } from './dom';

const DONE: Record<string, string> = {
  start: 'As it first was',
  open: 'Opened',
  close: 'Closed',
  params: 'Other values',
  reset: 'Reset',
};

export class StepsView {
  readonly root = element('div.history');
  private readonly slider = element('input', {
    type: 'range',
    min: '0',
    'aria-label': 'Step',
  });
  private readonly about = element('p.step', { 'aria-live': 'polite' });
  private readonly difference = element('div');
  private readonly back: HTMLButtonElement;
  private history: Omit<History, 'sessionId'> = { steps: [], versions: [] };

  constructor(private readonly perform: (action: Action) => Promise<unknown>) {
    this.back = button('', {}, () => void this.goBack(), 'Go Back to This Step');
    this.slider.addEventListener('input', () => void this.chosen());
    this.root.append(element('div.row', {}, this.slider, this.back), this.about, this.difference);
  }

  /** Asks for the steps anew; the last one is chosen. */
  async load(): Promise<void> {
    this.history = (await this.perform({ action: 'history' })) as History;
    const last = this.history.steps.length - 1;
    this.slider.max = String(last);
    this.slider.value = String(last);
    this.slider.disabled = last === 0;
    await this.chosen();
  }

  private get at(): number {
    return Number(this.slider.value);
  }

  private async chosen(): Promise<void> {
    const { steps, versions } = this.history;
    const step = steps[this.at];
    if (step === undefined) {
      return;
    }
    const words = `Step ${this.at + 1} of ${steps.length}: ${said(step)}`;
    this.about.textContent = words;
    this.slider.setAttribute('aria-valuetext', words);
    this.back.disabled = this.at === steps.length - 1;
    const before = versions.filter((version) => version < step.version).at(-1);
    if (this.at === 0 || before === undefined || !versions.includes(step.version)) {
      this.difference.replaceChildren();
      return;
    }
    const asked: Action = { action: 'diff', before, after: step.version };
    const found = (await this.perform(asked)) as Comparison;
    if (this.history.steps[this.at] === step) {
      this.difference.replaceChildren(diffOf(found));
    }
  }

  private async goBack(): Promise<void> {
    const steps = this.history.steps.length - 1 - this.at;
    await this.perform({ action: 'undo', steps });
    await this.load();
  }
}

function said({ action, section_keys, reason, parameter_set }: Step): string {
  const what = [DONE[action] ?? action, section_keys.join(', ')].filter(Boolean).join(' ');
  const set = action === 'params' && parameter_set !== null ? ` (${parameter_set})` : '';
  return what + set + (reason === null ? '' : `: ${reason}`);
}
