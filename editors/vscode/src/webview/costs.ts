// What the whole prompt costs, and where in it: numbers, and a strip with a piece per section.

import type { View } from '../preview/messages';
import type { Block, Budget, CachePlan, Kept, Tokens } from '../wire';
import { element } from './dom';
import { amount, counted, share } from './numbers';

export class Costs {
  readonly root = element('div.total');
  private readonly words = element('div.words');
  private readonly strip = element('div.strip', { 'aria-hidden': 'true' });

  /** `pressed` is told which section a piece of the strip stands for. */
  constructor(pressed: (id: string) => void) {
    this.root.append(this.words, this.strip);
    this.strip.addEventListener('click', ({ target }) => {
      const id = (target as HTMLElement).dataset.for;
      if (id !== undefined) {
        pressed(id);
      }
    });
  }

  show(blocks: readonly Block[], view: View): void {
    const { tokens, kept, cache, budget, effects = [] } = view;
    this.root.hidden = !tokens;
    if (!tokens) {
      return;
    }
    const title = tokens.exact ? `Counted with ${tokens.encoding}` : ESTIMATED;
    const over = (budget?.over ?? 0) > 0;
    const [whole, ...parts] = tokens.words;
    const numbers = [
      element(over ? 'b.over' : 'b', { title }, budget?.words ?? whole ?? ''),
      ...[...parts, ...(kept ? [kept.words] : [])].map((text) => element('span', {}, text)),
    ];
    const done = effects.map(({ line, message }) => `line ${line} ${message}`).join(' · ');
    this.words.replaceChildren(
      ...numbers,
      ...(done === '' ? [] : [element('span.effects', { title: EFFECTS }, done)]),
    );
    this.drawStrip(blocks, tokens, kept ?? null, cache ?? null, budget ?? null);
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
      const fresh = kept !== null && (!kept.tools || end > kept.characters) ? ' fresh' : '';
      const own = block.tokens?.self ?? 0;
      const name = [block.number, block.title].filter(Boolean).join(' ');
      const part = `${counted(own, 'token')}, ${share(own, tokens.text)}`;
      const upTo = mark ? `; a cache can keep the ${amount(mark.tokens)} tokens up to here` : '';
      const piece = element('span', {
        class: `piece ${kind}${fresh}${mark ? ' breakpoint' : ''}`,
        title: `${name}: ${part}${fresh && ', not cached'}${upTo}`,
        'data-for': block.id,
      });
      piece.style.setProperty('flex-grow', String(Math.max(own, 1)));
      return piece;
    });
    this.strip.replaceChildren(...pieces);
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
  }
}

const ESTIMATED = 'Estimated: install foldline[tokens] for exact counts.';
const EFFECTS = 'Side effects of importing the module.';
