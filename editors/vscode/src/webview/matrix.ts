// All parameter sets by the prompt's sections. A cell that is pressed shows how it differs from the
// first set's; a second one in the row, how the two differ.

import type { Action, View } from '../preview/messages';
import type { Cell, Comparison, Matrix, MatrixRow } from '../wire';
import { diffOf } from './diff';
import { button, element } from './dom';
import { counted } from './numbers';
import { reasonOf } from './reasons';

interface Chosen {
  row: MatrixRow;
  set: string;
}

export class MatrixSheet {
  private readonly root = element('div.matrix');
  private readonly difference = element('div', { 'aria-live': 'polite' });
  private readonly outdated = element(
    'span.row',
    { role: 'status' },
    'The preview has changed since.',
    button('', {}, () => void this.load(), 'Evaluate Again'),
  );
  private first = '';
  private chosen: Chosen[] = [];
  private seen: View | null = null;

  constructor(private readonly perform: (action: Action) => Promise<unknown>) {}

  /** Evaluates all sets the first time; later it says that something has changed. */
  show(view: View): Node[] {
    const isNew = this.seen === null;
    this.outdated.hidden = isNew || this.seen === view;
    this.seen = view;
    if (isNew) {
      void this.load();
    }
    return [this.root];
  }

  private async load(): Promise<void> {
    const view = this.seen;
    const sets = counted(view?.parameter_sets?.length ?? 0, 'set');
    this.root.replaceChildren(element('p.doc', { role: 'status' }, `Rendering ${sets} …`));
    try {
      this.draw((await this.perform({ action: 'compareSets' })) as Matrix);
      this.outdated.hidden = view === this.seen;
    } catch (error) {
      this.seen = null;
      this.root.replaceChildren(problem(reasonOf(error)));
    }
  }

  private draw({ rows, sets }: Matrix): void {
    this.chosen = [];
    this.difference.replaceChildren();
    this.first = sets.find(({ error }) => error === null)?.name ?? '';
    const lines = rows.map((row, place) => {
      const head = element('th', { scope: 'row' }, row.title || row.key);
      head.style.setProperty('--depth', String(row.depth));
      const cells = sets.map(({ name, cells }) =>
        element('td', {}, cells[place] && this.cell({ row, set: name }, cells[place])),
      );
      const line = element('tr', {}, head, ...cells);
      const variants = new Set(sets.flatMap(({ cells }) => cells[place]?.variant ?? []));
      line.classList.toggle('same', variants.size === 1);
      return line;
    });
    const names = ['Section', ...sets.map(({ name }) => name)];
    const heads = names.map((name) => element('th', { scope: 'col' }, name));
    const table = element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...heads)),
      element('tbody', {}, ...lines),
    );
    const only = element('input', { type: 'checkbox' });
    only.addEventListener('change', () => table.classList.toggle('differing', only.checked));
    this.root.replaceChildren(
      element('div.row', {}, element('label', {}, only, ' Only what differs'), this.outdated),
      element('div.sets', { tabindex: '0', role: 'region', 'aria-label': 'All sets' }, table),
      ...sets.flatMap(({ name, error }) => (error === null ? [] : problem(`${name}: ${error}`))),
      element('p.doc', {}, `${LEGEND} Marked: not as in ${this.first}. ${HINT}`),
      this.difference,
    );
  }

  private cell(own: Chosen, { words, shown, variant }: Cell): HTMLElement {
    const { title, key } = own.row;
    const about = variant > 0 ? `, not as in ${this.first}` : '';
    const made = button(
      `cell ${shown}${variant > 0 ? ' differs' : ''}`,
      { 'aria-label': `${title || key}, ${own.set}: ${words}${about}`, 'aria-pressed': 'false' },
      () => void this.choose(own, made),
      words,
    );
    return made;
  }

  private async choose(own: Chosen, pressed: Element): Promise<void> {
    const [before, more] = this.chosen;
    const second = before?.row === own.row && before.set !== own.set && more === undefined;
    const chosen = (this.chosen = second ? [before, own] : [own]);
    if (!second) {
      this.root
        .querySelectorAll('.cell')
        .forEach((cell) => cell.setAttribute('aria-pressed', 'false'));
    }
    pressed.setAttribute('aria-pressed', 'true');
    const from = second ? before.set : this.first;
    const asked: Action = { action: 'diff', before_set: from, after_set: own.set };
    const told =
      from === own.set
        ? element('p.doc', {}, `Press another cell of the row to compare it with ${from}.`)
        : await this.perform(asked).then(
            (found) => differenceOf(found as Comparison, own.row),
            (error: unknown) => problem(reasonOf(error)),
          );
    if (this.chosen === chosen) {
      this.difference.replaceChildren(told);
      this.difference.scrollIntoView({ block: 'nearest' });
    }
  }
}

const LEGEND = 'Tokens; ▸ is summarized, - is left out with the section or chapter around it.';
const HINT = 'Press a cell to see how, or two in a row to compare them.';

function problem(text: string): HTMLElement {
  return element('p.problem', { role: 'alert' }, text);
}

/** The difference of a section alone; of a row that is none, that of the whole prompt. */
function differenceOf(found: Comparison, { id, title, key }: MatrixRow): HTMLElement {
  const { before, after, changes, tokens } = found;
  const own = changes.find((change) => change.id === id);
  if (id !== null && own === undefined) {
    return element('p.doc', {}, `${title || key}: the same text with ${before} and ${after}.`);
  }
  const words = `${before} → ${after}${own ? '' : `: ${tokens.words}`}`;
  const part = own ? { changes: [own], unified: own.unified } : {};
  return diffOf({ ...found, ...part, tokens: { ...tokens, words } });
}
