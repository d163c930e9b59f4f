// What the whole prompt costs, as a button; behind it the parts, and a strip with a piece per section.

import type { View } from '../preview/messages';
import type { Block, Budget, CachePlan, Kept, Tokens } from '../wire';
import { button, element } from './dom';
import { amount, counted, share } from './numbers';

export class Costs {
  readonly button: HTMLButtonElement;
  readonly root = element('div.total', { id: 'details' });
  private readonly words = element('div.words');
  private readonly strip = element('div.strip', { 'aria-hidden': 'true' });
  private readonly drawn = element('ul', { 'aria-label': 'What the strip shows' });
  private readonly legend = element(
    'div.legend',
    {},
    'One piece per section, as wide as its tokens, after what is sent beside the text:',
    this.drawn,
  );

  private readonly fits = element('ul', { 'aria-label': 'What Fit folds' });
  private readonly fitting = element('div.legend', { title: FIT }, 'With Fit:', this.fits);

  /**
   * `reach` is told which section a piece of the strip stands for, `toggle` to show or to hide what
   * is behind the number; `more` stands below it.
   */
  constructor(reach: (id: string) => void, toggle: () => void, more: Node) {
    this.button = button('amount', { id: 'more-button', 'aria-controls': 'details' }, toggle);
    this.root.append(this.words, this.strip, this.legend, this.fitting, more);
    this.strip.addEventListener('click', ({ target }) => {
      const id = (target as HTMLElement).dataset.for;
      if (id !== undefined) {
        reach(id);
      }
    });
  }

  setOpen(open: boolean): void {
    this.root.hidden = !open;
    this.button.setAttribute('aria-expanded', String(open));
  }

  show(blocks: readonly Block[], view: View): void {
    const { tokens, kept, cache, budget, effects = [], fits = [] } = view;
    const [whole = 'Details', ...parts] = tokens?.words ?? [];
    const words = budget?.words ?? whole;
    // In a narrow panel, the number alone.
    const [, number = words, ...rest] = /^(.*?)( tokens?| bytes)?( \(.*)?$/.exec(words) ?? [];
    this.button.replaceChildren(number, ...rest.map((part) => element('span.wide', {}, part)));
    this.button.setAttribute('aria-label', words);
    this.button.title = titleOf(view);
    this.button.classList.toggle('over', (budget?.over ?? 0) > 0);
    this.button.hidden = view.order.length === 0;
    const done = effects.map(({ line, message }) => `line ${line} ${message}`).join(' · ');
    this.words.replaceChildren(
      ...[...parts, ...(kept?.cached ? [`After the last change: ${kept.words}`] : [])].map((text) =>
        element('span', {}, text),
      ),
      ...(done === '' ? [] : [element('span.effects', { title: EFFECTS }, done)]),
    );
    this.fits.replaceChildren(...fits.map((form) => element('li', {}, form)));
    this.fitting.hidden = fits.length === 0;
    this.strip.hidden = this.legend.hidden = !tokens;
    if (tokens) {
      this.drawStrip(blocks, tokens, kept ?? null, cache ?? null, budget ?? null);
    }
  }

  private drawStrip(
    blocks: readonly Block[],
    tokens: Tokens,
    kept: Kept | null,
    plan: CachePlan | null,
    budget: Budget | null,
  ): void {
    const marks = (plan?.breakpoints ?? []).filter((mark) => mark.kept);
    let end = 0;
    const pieces = blocks.map((block) => {
      const start = end;
      end += block.text.length;
      const mark = marks.find(({ offset }) => start < offset && offset <= end);
      const kind = block.visibility === 'SUMMARY' ? 'folded' : block.opened ? 'unfolded' : 'full';
      const fresh = kept?.cached && (!kept.tools || end > kept.characters) ? ' fresh' : '';
      const own = block.tokens?.self ?? 0;
      const name = [block.number, block.title].filter(Boolean).join(' ');
      const part = `${counted(own, 'token')}, ${share(own, tokens.total)}`;
      const upTo = mark ? `; a cache can keep the ${amount(mark.tokens)} tokens up to here` : '';
      const piece = element('span', {
        class: `piece ${kind}${fresh}${mark ? ' breakpoint' : ''}`,
        title: `${name}: ${part}${fresh && ', read anew'}${upTo}`,
        'data-for': block.id,
      });
      piece.style.setProperty('flex-grow', String(Math.max(own, 1)));
      return piece;
    });
    this.strip.replaceChildren(
      ...Object.entries({ Tools: tokens.tools, 'Output schema': tokens.output })
        .filter(([, own]) => own > 0)
        .map(([name, own]) => {
          const title = `${name}: ${counted(own, 'token')}, ${share(own, tokens.total)}`;
          const piece = element('span.beside', { title });
          piece.style.setProperty('flex-grow', String(own));
          return piece;
        }),
      ...pieces,
    );
    if (budget !== null && budget.over === 0 && budget.unit === 'tokens') {
      const left = element('span.left', {
        title: `${amount(budget.limit - budget.used)} tokens left`,
      });
      left.style.setProperty('flex-grow', String(budget.limit - budget.used));
      this.strip.append(left);
    }
    if (budget !== null && budget.over > 0) {
      const limit = element('span.limit', {
        title: `The budget ends here: ${amount(budget.limit)} ${budget.unit}`,
      });
      limit.style.setProperty('--share', String(budget.limit / budget.used));
      this.strip.append(limit);
    }
    const drawn = Object.entries(
      kept?.cached ? { ...LEGEND, full: 'reusable from cache' } : LEGEND,
    );
    this.drawn.replaceChildren(
      ...drawn
        .filter(([kind]) => this.strip.querySelector(`.${kind}`) !== null)
        .map(([kind, text]) =>
          element('li', {}, element('span', { class: `swatch ${kind}` }), text),
        ),
    );
  }
}

function titleOf({ tokens, fidelity }: View): string {
  const counted = tokens?.exact ? `Counted with ${tokens.encoding}.` : tokens ? ESTIMATED : '';
  return [counted, fidelity === 'static' && FROM_SOURCE, 'Shows what it is made of.']
    .filter(Boolean)
    .join(' ');
}

const LEGEND: Record<string, string> = {
  beside: 'tools, output schema',
  full: 'sent in full',
  fresh: 'read anew',
  folded: 'summarized',
  breakpoint: 'cache breakpoint',
  left: 'left of the budget',
  limit: 'end of the budget',
};

const ESTIMATED = 'Estimated: install foldline[tokens] for exact counts.';
const FIT =
  'What render(fit=Fit(tokens=…)) makes of the text, by its estimate; tools and schema come on top.';
const FROM_SOURCE = 'Only running the prompt decides all of its text.';
const EFFECTS = 'Side effects of importing the module.';
