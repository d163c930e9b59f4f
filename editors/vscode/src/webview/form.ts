// The values of the prompt's parameters, as a form made of their types.

import type { Origin, ParameterField, Parameters, Values } from '../wire';
import { button, element } from './dom';
import { parse, shape, written } from './inputs';
import { reasonOf } from './reasons';

export interface FormActions {
  /** Shows other values; rejects with the reason if they are refused. */
  set(params: Values): Promise<unknown>;
  /** Renders with other values and changes nothing. */
  once(params: Values): Promise<unknown>;
  go(file: string, line: number): void;
}

const ORIGINS: Record<string, string> = {
  given: 'set here',
  bound: 'bound in the module',
  default_params: 'default of the section',
  default: 'default',
};

/** The name under which values for a dataclass are given. */
function slotOf({ section, type }: Parameters): string {
  return section ?? type;
}

export class ParameterForm {
  readonly root = element('div.parameters');
  private readonly fields = new Map<string, FieldView>();
  private readonly groups = element('div.groups');
  private readonly trial = element('input', { type: 'checkbox', id: 'only-try' });
  private readonly refusal = element('p.refusal', { role: 'alert' });
  private readonly resetAll: HTMLButtonElement;
  private params: Values = {};
  private shape = '';

  constructor(private readonly actions: FormActions) {
    this.resetAll = button('', {}, () => void this.send({}), 'Reset All Values');
    this.refusal.hidden = true;
    this.root.append(
      this.groups,
      this.refusal,
      element(
        'div.foot',
        {},
        this.trial,
        element('label', { for: 'only-try' }, 'Render once: show the result, keep the preview'),
        element('span.space'),
        this.resetAll,
      ),
    );
  }

  show(parameters: readonly Parameters[], params: Values, reveals: boolean): void {
    this.params = params;
    this.resetAll.disabled = Object.keys(params).length === 0;
    const names = parameters.map((kind) => [slotOf(kind), ...kind.fields.map(shape)]);
    if (JSON.stringify(names) !== this.shape) {
      this.shape = JSON.stringify(names);
      this.build(parameters);
    }
    for (const kind of parameters) {
      for (const field of kind.fields) {
        const set = params[slotOf(kind)];
        const own = set !== undefined && field.name in set;
        this.fields.get(`${slotOf(kind)}.${field.name}`)?.show(field, own, reveals);
      }
    }
  }

  private build(parameters: readonly Parameters[]): void {
    this.fields.clear();
    const groups = parameters.map((kind) => {
      const slot = slotOf(kind);
      const rows = kind.fields.map((field) => {
        const view = new FieldView(slot, field, {
          changed: (value) => void this.change(slot, field.name, value),
          reset: () => void this.reset(slot, field.name),
          go: (file, line) => this.actions.go(file, line),
        });
        this.fields.set(`${slot}.${field.name}`, view);
        return view.root;
      });
      const of = kind.section === null ? '' : ` for ${kind.section}`;
      return element(
        'fieldset',
        {},
        element('legend', {}, element('code', {}, kind.type), of),
        kind.doc !== '' && element('p.doc', {}, kind.doc),
        ...rows,
      );
    });
    this.groups.replaceChildren(...groups);
  }

  private change(slot: string, name: string, value: unknown): Promise<void> {
    const params = { ...this.params, [slot]: { ...this.params[slot], [name]: value } };
    return this.send(params, `${slot}.${name}`);
  }

  private reset(slot: string, name: string): Promise<void> {
    const { [slot]: fields = {}, ...others } = this.params;
    const left = Object.entries(fields).filter(([field]) => field !== name);
    const params = left.length === 0 ? others : { ...others, [slot]: Object.fromEntries(left) };
    return this.send(params, `${slot}.${name}`);
  }

  /** Tells what refused the values at the field that was changed, else below the form. */
  private async send(params: Values, changed?: string): Promise<void> {
    const field = changed === undefined ? undefined : this.fields.get(changed);
    try {
      await (this.trial.checked ? this.actions.once(params) : this.actions.set(params));
      field?.refuse(null);
      this.refusal.hidden = true;
    } catch (error) {
      const reason = plain(reasonOf(error));
      field?.refuse(reason);
      this.refusal.textContent = field === undefined ? reason : '';
      this.refusal.hidden = field !== undefined;
    }
  }
}

/** A refusal without the names of the argument and the type: the field beside it says both. */
function plain(reason: string): string {
  const said = reason.replace(/^params: (\w+: )?/, '');
  // A name of a field stays as it is.
  return /^[a-z]+ /.test(said) ? said.charAt(0).toUpperCase() + said.slice(1) : said;
}

interface FieldActions {
  changed(value: unknown): void;
  reset(): void;
  go(file: string, line: number): void;
}

class FieldView {
  readonly root: HTMLElement;
  private readonly input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
  private readonly origin = element('span.origin');
  private readonly problem: HTMLElement;
  private readonly fixed = element('code.fixed');
  private readonly reset: HTMLButtonElement;
  private kept = '';
  private refused = false;

  constructor(
    slot: string,
    private field: ParameterField,
    private readonly actions: FieldActions,
  ) {
    const id = `value-${slot}.${field.name}`;
    const [doc, problem] = [`${id}-doc`, `${id}-problem`];
    this.input = inputOf(field, { id, 'aria-describedby': `${doc} ${problem}` });
    this.input.addEventListener('change', () => this.commit());
    this.problem = element('p.problem', { id: problem, role: 'alert' });
    this.problem.hidden = true;
    this.reset = button(
      'reset',
      { 'aria-label': `Reset ${field.name}`, title: 'Take back the value that was set here' },
      () => {
        this.refused = false;
        actions.reset();
      },
      'Reset',
    );
    const said = [field.doc, field.required ? 'Required.' : ''].filter(Boolean).join(' ');
    this.root = element(
      'div.field',
      {},
      element(
        'div.name',
        {},
        element('label', { for: id }, field.name),
        element('span.type', {}, typeOf(field)),
      ),
      element('div.value', {}, this.input, this.fixed, this.reset),
      this.problem,
      element('div.about', { id: doc }, this.origin, said !== '' && element('span.doc', {}, said)),
    );
  }

  show(field: ParameterField, own: boolean, reveals: boolean): void {
    this.field = field;
    this.reset.hidden = !own;
    this.input.hidden = !field.editable;
    this.fixed.hidden = field.editable;
    this.fixed.textContent = field.editable ? '' : field.shown;
    const made = field.origin?.source === 'generated';
    this.root.classList.toggle('made-up', made);
    this.origin.replaceChildren(this.originOf(field.origin, reveals));
    const value = written(field);
    // What is being typed, or was refused, stays until it is settled.
    if (!this.refused && document.activeElement !== this.input) {
      this.write(value);
    }
    this.kept = value;
  }

  refuse(reason: string | null): void {
    this.refused = reason !== null;
    this.problem.hidden = reason === null;
    this.problem.textContent = reason;
    this.input.toggleAttribute('aria-invalid', this.refused);
    if (this.refused) {
      this.input.setAttribute('aria-invalid', 'true');
    }
  }

  private read(): string {
    const { input } = this;
    return input instanceof HTMLInputElement && input.type === 'checkbox'
      ? String(input.checked)
      : input.value;
  }

  private write(value: string): void {
    const { input } = this;
    if (input instanceof HTMLInputElement && input.type === 'checkbox') {
      input.checked = value === 'true';
    } else {
      input.value = value;
    }
  }

  private commit(): void {
    const text = this.read();
    const parsed = parse(this.field, text);
    if ('problem' in parsed) {
      this.refuse(parsed.problem);
    } else if (text !== this.kept || this.refused) {
      this.actions.changed(parsed.value);
    }
  }

  private originOf(origin: Origin | null, reveals: boolean): Node {
    if (origin === null) {
      return document.createTextNode('');
    }
    if (origin.source === 'generated') {
      const title = 'Nothing gives this value: set one here, or write a preview_…() function';
      return element('strong.made', { title }, 'made up');
    }
    const { file, line = 1 } = origin;
    const name = file?.split('/').at(-1);
    const text =
      origin.source === 'fixture' ? `${origin.name}()` : (ORIGINS[origin.source] ?? name ?? '');
    if (file === undefined || !reveals) {
      return element('span', file === undefined ? {} : { title: file }, text);
    }
    const label = `Go to ${text} in ${name}`;
    return button('link', { 'aria-label': label }, () => this.actions.go(file, line), text);
  }
}

function inputOf(
  field: ParameterField,
  attributes: Record<string, string>,
): HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement {
  switch (shape(field)) {
    case 'switch':
      return element('input', { type: 'checkbox', ...attributes });
    case 'choice': {
      const options = (field.choices ?? []).map((choice) =>
        element('option', { value: JSON.stringify(choice) }, String(choice)),
      );
      return element('select', attributes, ...options);
    }
    case 'whole':
    case 'number':
      return element('input', { type: 'text', inputmode: 'decimal', ...attributes });
    case 'text':
    case 'optional':
    case 'json':
      return element('textarea', { rows: '1', spellcheck: 'false', ...attributes });
  }
}

/** The type as people write it; of choices, the list is the type. */
function typeOf({ type, choices }: ParameterField): string {
  return choices !== null && type !== 'bool' ? 'choice' : type.replaceAll('typing.', '');
}
