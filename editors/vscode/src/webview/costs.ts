// What the whole prompt costs, and where in it: a strip with a piece for each section.

import type { Block, CachePlan, CacheStage, Effect, Kept, Tokens } from '../wire';
import { element } from './dom';

export class Costs {
  readonly root = element('div.total');
  private readonly words = element('span.words');
  private readonly strip = element('div.strip', { 'aria-hidden': 'true' });
  private readonly sentence = element('summary', { title: PLAN });
  private readonly stages = element('div.stages');
  private readonly plan = element('details.plan', {}, this.sentence, this.stages);

  /** `pressed` is told which section a piece of the strip stands for. */
  constructor(pressed: (id: string) => void) {
    this.root.append(this.words, this.plan, this.strip);
    this.strip.addEventListener('click', ({ target }) => {
      const id = (target as HTMLElement).dataset.for;
      if (id !== undefined) {
        pressed(id);
      }
    });
  }

  /** `effects` are what the module does beside its prompts: they belong to its price. */
  show(
    blocks: readonly Block[],
    tokens: Tokens | null,
    kept: Kept | null,
    plan: CachePlan | null,
    effects: readonly Effect[],
  ): void {
    this.root.hidden = tokens === null;
    if (tokens === null) {
      return;
    }
    const said = [
      `${amount(tokens.total)} tokens`,
      tokens.tools > 0 && `${amount(tokens.tools)} of them tools`,
      tokens.output > 0 && `${amount(tokens.output)} the output's schema`,
      tokens.exact ? tokens.encoding : 'estimated',
    ];
    const cache = keptOf(tokens, kept);
    const done = effects.map(({ line, message }) => `line ${line} ${message}`).join(' · ');
    this.words.replaceChildren(
      element('span', {}, said.filter(Boolean).join(' · ')),
      ...(cache === null ? [] : [element('span.kept', { title: KEPT }, cache)]),
      ...(done === '' ? [] : [element('span.effects', { title: EFFECTS }, done)]),
    );
    this.plan.hidden = !plan?.sentence;
    this.sentence.textContent = plan?.sentence ?? '';
    this.stages.replaceChildren(tableOf(plan?.stages ?? []));
    this.drawStrip(blocks, kept, plan);
  }

  private drawStrip(blocks: readonly Block[], kept: Kept | null, plan: CachePlan | null): void {
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
      const upTo = mark ? `; a cache can keep the ${amount(mark.tokens)} tokens up to here` : '';
      const piece = element('span', {
        class: `piece ${kind}${fresh}${mark ? ' breakpoint' : ''}`,
        title: `${name}: ${amount(own)} tokens${fresh && ', not kept by the cache'}${upTo}`,
        'data-for': block.id,
      });
      piece.style.setProperty('flex-grow', String(Math.max(own, 1)));
      return piece;
    });
    this.strip.replaceChildren(...pieces);
  }
}

const KEPT =
  "A provider's prompt cache keeps what the last version and this one begin with alike, " +
  'the tools first.';

const PLAN =
  'How much of the prompt begins alike in other requests, by what the types of its fields say. ' +
  'A provider can be asked to keep it.';

const EFFECTS = 'Side effects of importing the module.';

/** The plan as a list: what is sent first changes least. */
function tableOf(stages: readonly CacheStage[]): HTMLElement {
  const head = ['sections', 'tokens', 'changes', 'a change makes new'];
  const rows = stages.flatMap(({ first, last, tokens, why, change, breakpoint }) => [
    element(
      'tr',
      {},
      element('td', {}, first === last ? first : `${first} … ${last}`),
      element('td.amount', {}, amount(tokens)),
      element('td', {}, why),
      element('td.amount', {}, amount(change)),
    ),
    ...(breakpoint === null
      ? []
      : [element('tr.mark', {}, element('td', { colspan: '4' }, breakpoint))]),
  ]);
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head.map((name) => element('th', {}, name)))),
    element('tbody', {}, ...rows),
  );
}

function keptOf(tokens: Tokens, kept: Kept | null): string | null {
  if (kept === null) {
    return null;
  }
  if (!kept.tools) {
    return 'the tools changed: the cache keeps nothing';
  }
  if (kept.tokens >= tokens.text) {
    return 'the cache keeps all of it';
  }
  const count = kept.tokens + tokens.tools;
  return count === 0 ? 'the cache keeps nothing' : `the cache keeps ${amount(count)} of them`;
}

function amount(count: number): string {
  return count.toLocaleString('en');
}
