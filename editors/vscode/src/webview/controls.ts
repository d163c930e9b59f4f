// The bar's controls: the parameter set, undo and reset, and a menu with all else.

import type { Action, AnyAction, View } from '../preview/messages';
import type { ParameterSet, Values } from '../wire';
import { Chapters } from './chapters';
import { Compare } from './compare';
import { button, element } from './dom';
import { type Drawer, Drawers } from './drawers';
import { ParameterForm } from './form';
import { StepsView } from './history';
import { Menu } from './menu';
import { amount } from './numbers';
import { reasonOf } from './reasons';

const NO_SET = 'none';

interface Rendered {
  text: string;
  tokens?: { text: number };
}

export interface Copies {
  text: () => string;
  messages: () => string;
  shown: () => string;
}

export class Controls {
  readonly drawers: Drawers;
  readonly sets = element('select', {
    'aria-label': 'Parameter set',
    title: 'The values that the prompt is rendered with',
  });
  readonly steps = element('span.controls.steps');
  /** Values that nothing gives: what is shown is not what a model would get. */
  readonly made: HTMLButtonElement;
  readonly menu = new Menu('More');
  readonly copying: HTMLElement;
  private readonly undo: HTMLButtonElement;
  private readonly reset: HTMLButtonElement;
  private readonly form: ParameterForm;
  private readonly once = element('div.once', { 'aria-live': 'polite' });
  private readonly chapters: Chapters;
  private readonly history: StepsView;
  private readonly values: Drawer;
  private readonly chaptersDrawer: Drawer;
  private readonly historyDrawer: Drawer;
  private readonly compareDrawer: Drawer;
  private readonly compare: Compare;
  private readonly budget = element('input', {
    type: 'text',
    inputmode: 'numeric',
    id: 'budget',
    size: '7',
  });
  private shown: View | null = null;

  constructor(
    private readonly perform: (action: AnyAction) => Promise<unknown>,
    inEditor: boolean,
    copies: Copies,
    private readonly report: (reason: string) => void,
    changed: () => void,
  ) {
    this.drawers = new Drawers(changed, () => this.menu.summary);
    const act = (action: Action) => (): void => void this.attempt(action);
    this.undo = button(
      '',
      { title: 'Undo the last step' },
      act({ action: 'undo', steps: 1 }),
      'Undo',
    );
    this.reset = button(
      '',
      { title: 'Show the prompt as it first was' },
      act({ action: 'reset' }),
      'Reset',
    );
    this.steps.append(this.undo, this.reset);
    this.sets.addEventListener('change', () => {
      void this.attempt({ action: 'setParams', params: {}, parameter_set: this.sets.value });
    });
    this.form = new ParameterForm({
      set: (params) => perform({ action: 'setParams', params }),
      once: (params) => this.renderOnce(params),
      go: (file, line) => void this.attempt({ action: 'go', file, line }),
    });
    this.budget.addEventListener('change', () => this.changeBudget());
    const values = element(
      'div',
      {},
      this.form.root,
      this.once,
      element(
        'div.foot',
        {},
        element('label', { for: 'budget' }, 'Budget in tokens'),
        this.budget,
        element('span.doc', {}, '0 for none'),
      ),
    );
    this.chapters = new Chapters((open, key, reason) =>
      perform(
        open
          ? { action: 'openSections', chapters: [key], ...(reason ? { reason } : {}) }
          : { action: 'closeSections', chapters: [key] },
      ),
    );
    this.history = new StepsView(perform);
    this.compare = new Compare(perform, inEditor);
    this.values = this.drawers.add('values', 'Values', values);
    this.chaptersDrawer = this.drawers.add('chapters', 'Chapters', this.chapters.root);
    this.historyDrawer = this.drawers.add('history', 'History', this.history.root, () => {
      void this.loadHistory();
    });
    this.compareDrawer = this.drawers.add('compare', 'Compare', this.compare.root);
    this.made = button('made', { title: MADE }, () => this.values.button.click());
    this.menu.add(this.drawers.buttons);
    const copy = (text: () => string) => (): void => {
      this.perform({ action: 'copy', text: text() }).catch((error: unknown) =>
        this.report(reasonOf(error)),
      );
    };
    this.copying = element(
      'div.group',
      {},
      button('', {}, copy(copies.text), 'Copy Text'),
      button('', {}, copy(copies.messages), 'Copy as Messages'),
      button('', {}, copy(copies.shown), 'Copy as Shown'),
      inEditor &&
        button('', {}, () => void this.perform({ action: 'document' }), 'Open as Document'),
    );
  }

  show(view: View): void {
    this.shown = view;
    const { parameters = [], params = {}, chapters = [], generated = [], steps = 1 } = view;
    const live = view.order.length > 0;
    this.steps.hidden = steps < 2;
    this.showSets(view.parameter_sets ?? [], view.parameter_set ?? null);
    this.form.show(parameters, params, view.reveals ?? true);
    this.values.tell('', live);
    this.made.hidden = generated.length === 0;
    this.made.textContent = `${generated.length} made up`;
    const open = chapters.filter((chapter) => chapter.open).length;
    this.chapters.show(chapters, view.chapters_shown ?? '');
    this.chaptersDrawer.tell(`${open}/${chapters.length}`, chapters.length > 0);
    this.historyDrawer.tell(steps > 1 ? String(steps) : '', steps > 1);
    if (!this.historyDrawer.panel.hidden) {
      void this.loadHistory();
    }
    this.compare.show(steps > 1, view.parameter_set ?? null);
    this.compareDrawer.tell('', live);
    this.copying.hidden = !live;
    if (document.activeElement !== this.budget) {
      this.budget.value = view.budget ? String(view.budget.limit) : '';
    }
  }

  private showSets(sets: readonly ParameterSet[], chosen: string | null): void {
    this.sets.hidden = sets.length === 0;
    const names = [...sets.map(({ name }) => name), NO_SET];
    // A list that is open stays open.
    if (names.join('\n') !== [...this.sets.options].map(({ value }) => value).join('\n')) {
      this.sets.replaceChildren(...names.map((name) => element('option', { value: name }, name)));
    }
    this.sets.value = chosen ?? NO_SET;
  }

  private async attempt(action: Action): Promise<void> {
    try {
      await this.perform(action);
    } catch (error) {
      this.report(reasonOf(error));
      if (this.shown !== null) {
        this.show(this.shown);
      }
    }
  }

  private async loadHistory(): Promise<void> {
    try {
      await this.history.load();
    } catch (error) {
      this.report(reasonOf(error));
    }
  }

  private async renderOnce(params: Values): Promise<void> {
    const { text, tokens } = (await this.perform({ action: 'render', params })) as Rendered;
    const count = tokens === undefined ? '' : ` ${amount(tokens.text)} tokens.`;
    this.once.replaceChildren(
      element(
        'div.row',
        {},
        element('strong', {}, `Rendered once.${count}`),
        element('span.space'),
        button('', {}, () => this.once.replaceChildren(), 'Dismiss'),
      ),
      element('pre', { tabindex: '0', 'aria-label': 'Rendered once' }, text),
    );
  }

  private changeBudget(): void {
    const budget = Number(this.budget.value || '0');
    const valid = Number.isInteger(budget) && budget >= 0;
    this.budget.setAttribute('aria-invalid', String(!valid));
    if (valid) {
      void this.attempt({ action: 'setParams', budget });
    }
  }
}

const MADE = 'Nothing gives these values. Set them here, or write a preview_…() function.';
