// The whole page: a bar, a notice, drawers, and tabs of which the first has the blocks, patched
// as views arrive.

import type { AnyAction, Choices, Notice, Place, View } from '../preview/messages';
import { Blocks } from '../preview/model';
import type { Block, Occurrence, SectionText } from '../wire';
import { BlockView, type Mode, type Part } from './block';
import { Controls } from './controls';
import { Costs } from './costs';
import { button, element, withCode } from './dom';
import { MatrixSheet } from './matrix';
import {
  USER,
  costsSheet,
  messagesOf,
  messagesSheet,
  outputSheet,
  roleOf,
  toolsSheet,
} from './sheets';
import { OriginBar } from './origin';
import { InStep } from './step';
import { Tabs } from './tabs';
import type { Token } from './tokens';
import { amount } from './numbers';
import { reasonOf } from './reasons';

/** What a panel keeps while it is hidden, and after the window was reloaded. */
export interface PageState {
  uri: string;
  name: string;
  folded: string[];
  mode: Mode;
  tab: string;
  drawer: string | null;
  details: boolean;
  scroll: number;
  chosen: Choices;
}

export interface Host {
  /** Whether an editor is around the page, which compares and copies for it. */
  inEditor: boolean;
  /** Does it; rejects with the reason if it was refused. */
  perform(action: AnyAction): Promise<unknown>;
  load(): Partial<PageState>;
  save(state: PageState): void;
  markdown(block: Block, part: Part): readonly Token[];
  markdownOf(section: SectionText): readonly Token[];
  /** The pointer or the focus is on this section, or on none any more. */
  pointed?(key: string | null): void;
  /** The user scrolled to here. */
  scrolled?(place: Place): void;
  /** What else is in the menu. */
  extra?: HTMLElement;
}

/** A section of which less than this many pixels are in view is not what is read. */
const ONE_LINE = 24;

const TEXT = 'text';

export class Page {
  private readonly blocks = new Blocks();
  private readonly views = new Map<string, BlockView>();
  private readonly folded: Set<string>;
  private mode: Mode;
  private tab: string;
  private view: View | null = null;
  private scrollWanted: number | null;

  private readonly name = element('h1');
  private readonly badge = element('span.fidelity');
  private readonly failures: HTMLButtonElement;
  private readonly modeButton: HTMLButtonElement;
  private readonly foldButton: HTMLButtonElement;
  private readonly notice = element('div.notice', { role: 'status', 'aria-live': 'polite' });
  private readonly refusal = element('div.notice.failed', { role: 'alert' });
  private readonly costs: Costs;
  private readonly controls: Controls;
  private readonly tabs: Tabs;
  private readonly header: HTMLElement;
  private readonly main = element('main', { tabindex: '-1' });
  private readonly text = element('div.text-panel');
  private readonly sheets = {
    tools: element('div.sheet'),
    output: element('div.sheet'),
    messages: element('div.sheet'),
    costs: element('div.sheet'),
    matrix: element('div.sheet'),
  };
  private readonly matrix = new MatrixSheet((action) => this.host.perform(action));
  private readonly foot = element('footer');
  private readonly inStep: InStep;
  private readonly origin: OriginBar;

  constructor(private readonly host: Host) {
    const state = host.load();
    this.folded = new Set(state.folded ?? []);
    this.mode = state.mode ?? 'markdown';
    this.tab = state.tab ?? TEXT;
    this.scrollWanted = state.scroll ?? null;
    this.controls = new Controls(
      (action) => host.perform(action),
      host.inEditor,
      {
        text: () => this.textOf(() => true),
        messages: () => JSON.stringify(messagesOf(this.blocks.all()), null, 2),
        shown: () => this.textOf((block) => this.isShown(block)),
      },
      (reason) => this.refuse(reason),
      () => this.save(),
    );
    if (state.drawer) {
      this.controls.drawers.open(state.drawer);
    }
    this.modeButton = button('', {}, () => {
      this.mode = this.mode === 'text' ? 'markdown' : 'text';
      this.keepingPlace(() => this.draw());
    });
    this.foldButton = button('', {}, () => this.foldAll());
    this.failures = button('failures', {}, () => {
      const first = this.blocks.all().find(({ error }) => error);
      this.reach(first?.id ?? '');
    });
    this.tabs = new Tabs((name) => {
      this.tab = name;
      this.drawSheet();
      this.save();
    });
    this.tabs.add(TEXT, this.text);
    this.tabs.label(TEXT, 'Prompt');
    for (const [name, panel] of Object.entries(this.sheets)) {
      this.tabs.add(name, panel);
    }
    this.costs = new Costs(
      (id) => this.reach(id),
      () => this.showDetails(Boolean(this.costs.root.hidden)),
      this.tabs.list,
    );
    this.tabs.choose(this.tab);
    this.costs.setOpen(state.details ?? false);
    this.costs.root.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') {
        this.showDetails(false);
        this.costs.button.focus();
      }
    });
    this.controls.menu.add(this.modeButton, this.foldButton);
    this.controls.menu.add(this.controls.copying);
    if (host.extra) {
      this.controls.menu.add(host.extra);
    }
    this.notice.hidden = this.refusal.hidden = true;
    this.header = this.head();
    this.main.append(this.text, ...Object.values(this.sheets));
    document.body.append(this.header, this.main, this.foot);
    this.text.addEventListener('keydown', (event) => this.key(event));
    addEventListener('scroll', () => this.save(), { passive: true });
    this.origin = new OriginBar({
      ...host,
      mark: (parts) => this.markCharacters(parts, true),
    });
    document.body.append(this.origin.root);
    this.inStep = new InStep(
      { ...host, traced: (key, offset) => void this.origin.trace(key, offset) },
      this.text,
      () => this.blocks.all().flatMap(({ id }) => this.views.get(id) ?? []),
      () => this.header.getBoundingClientRect().bottom,
    );
  }

  /** What the reader must know stays in view with the bar, however far down the text is. */
  private head(): HTMLElement {
    return element(
      'header',
      {},
      element(
        'div.bar',
        {},
        this.name,
        this.badge,
        this.failures,
        this.controls.sets,
        this.controls.made,
        this.costs.button,
        element('span.space'),
        this.controls.steps,
        this.controls.menu.root,
      ),
      this.costs.root,
      this.notice,
      this.refusal,
      this.controls.drawers.root,
    );
  }

  /** Shows what is behind the number; without it, the prompt alone. */
  private showDetails(open: boolean): void {
    this.costs.setOpen(open);
    if (!open) {
      this.tabs.choose(TEXT);
    }
    this.save();
  }

  show(view: View): void {
    this.keepingPlace(() => this.apply(view));
  }

  /** Marks the section that the editor's cursor is in. */
  mark(key: string | null, reveal: boolean): void {
    this.inStep.mark(key, reveal && this.tab === TEXT);
  }

  /** Marks the characters that come from where the editor's cursor is. */
  markCharacters(parts: readonly Occurrence[], reveal: boolean): void {
    this.inStep.markCharacters(parts, reveal && this.tab === TEXT);
  }

  scrollTo(place: Place): void {
    if (this.tab === TEXT) {
      this.inStep.scrollTo(place);
    }
  }

  private apply(view: View): void {
    this.view = view;
    this.name.textContent = this.name.title = view.name;
    this.refusal.hidden = true;
    if (view.whole) {
      this.blocks.clear();
    }
    this.blocks.apply(view.order, view.blocks);
    this.showBadge(view);
    const { tools = [], output = null } = view;
    this.tabs.label('tools', `Tools ${tools.length}`, tools.length > 0);
    this.tabs.label('output', 'Output', output !== null);
    this.tabs.label('messages', 'Messages', view.order.length > 0);
    this.tabs.label('costs', 'Costs', Boolean(view.tokens));
    const sets = view.parameter_sets?.length ?? 0;
    this.tabs.label('matrix', `Sets ${sets}`, sets > 1);
    this.draw();
    this.drawSheet();
    this.costs.show(this.blocks.all(), view);
    this.controls.show(view);
    this.showNotice(view.notice);
    this.showFoot(view);
    if (this.scrollWanted !== null && view.order.length > 0) {
      scrollTo({ top: this.scrollWanted });
      this.scrollWanted = null;
    }
  }

  /** Brings the page in line with the blocks; elements of unchanged blocks are not touched. */
  private draw(): void {
    for (const [id, view] of this.views) {
      if (this.blocks.get(id) === undefined) {
        view.root.remove();
        this.views.delete(id);
      }
    }
    let next = this.text.firstElementChild;
    const about = this.view?.tokens?.words[0]?.startsWith('~') ? '~' : '';
    // One message of the user needs no name.
    let role = this.blocks.all().some((block) => roleOf(block) !== USER) ? '' : USER;
    for (const block of this.blocks.all()) {
      const view = this.viewOf(block);
      view.update(block, this.mode, this.view?.reveals ?? true, this.view?.cache ?? null, about);
      view.begins(roleOf(block) === role ? null : roleOf(block));
      role = roleOf(block);
      if (view.root === next) {
        next = next.nextElementSibling;
      } else {
        this.text.insertBefore(view.root, next);
      }
    }
    this.applyFolds();
    this.inStep.redrawn();
    this.modeButton.textContent = this.mode === 'text' ? 'Show Reading View' : 'Show Exact Text';
    this.text.classList.toggle('exact', this.mode === 'text');
    this.save();
  }

  /** Fills the tab that is shown, and no other. */
  private drawSheet(): void {
    const { view, tab } = this;
    this.modeButton.hidden = this.foldButton.hidden = tab !== TEXT || this.views.size === 0;
    if (view === null || tab === TEXT) {
      return;
    }
    const blocks = this.blocks.all();
    const made: Record<string, () => Node[]> = {
      tools: () => toolsSheet(view.tools ?? []),
      output: () => (view.output ? outputSheet(view.output) : []),
      messages: () => messagesSheet(blocks),
      costs: () => {
        const all = this.sheets.costs.querySelector('details')?.open ?? false;
        return costsSheet(blocks, view, (id) => this.reach(id), all);
      },
      matrix: () => this.matrix.show(view),
    };
    this.sheets[tab as keyof typeof this.sheets].replaceChildren(...(made[tab]?.() ?? []));
  }

  private viewOf(block: Block): BlockView {
    const there = this.views.get(block.id);
    if (there !== undefined) {
      return there;
    }
    const made = new BlockView(block, {
      fold: (id) => this.toggle(id),
      change: (change, key, reason) =>
        this.attempt({ action: change, key, ...(reason ? { reason } : {}) }),
      read: async (key) =>
        this.host.markdownOf(
          (await this.host.perform({ action: 'readSection', key })) as SectionText,
        ),
      reveal: (key) => void this.attempt({ action: 'reveal', key }),
      go: (file, line) => void this.attempt({ action: 'go', file, line }),
      markdown: (shown, part) => this.host.markdown(shown, part),
    });
    this.views.set(block.id, made);
    return made;
  }

  private async attempt(action: AnyAction): Promise<void> {
    try {
      await this.host.perform(action);
    } catch (error) {
      this.refuse(reasonOf(error));
    }
  }

  /** Says why something was not done, until something changes. */
  private refuse(reason: string): void {
    this.refusal.hidden = false;
    this.refusal.replaceChildren(
      element('span', {}, reason),
      button('', {}, () => (this.refusal.hidden = true), 'Dismiss'),
    );
  }

  private reach(id: string): void {
    this.tabs.choose(TEXT);
    this.views.get(id)?.root.scrollIntoView();
  }

  private toggle(id: string, folded = !this.folded.has(id)): void {
    if (folded) {
      this.folded.add(id);
    } else {
      this.folded.delete(id);
    }
    this.applyFolds();
    this.save();
  }

  private foldAll(): void {
    const fold = this.folded.size === 0;
    this.folded.clear();
    if (fold) {
      this.blocks.order.forEach((id) => this.folded.add(id));
    }
    this.applyFolds();
    this.save();
  }

  /** A folded section hides its own text and everything below it. */
  private applyFolds(): void {
    let hiddenBelow = Infinity;
    for (const block of this.blocks.all()) {
      if (block.depth <= hiddenBelow) {
        hiddenBelow = Infinity;
      }
      const folded = this.folded.has(block.id);
      this.views.get(block.id)?.setFolded(folded, hiddenBelow !== Infinity);
      if (folded && hiddenBelow === Infinity) {
        hiddenBelow = block.depth;
      }
    }
    this.foldButton.textContent = this.folded.size === 0 ? 'Fold All' : 'Unfold All';
    this.modeButton.hidden = this.foldButton.hidden = this.tab !== TEXT || this.views.size === 0;
  }

  private textOf(chosen: (block: Block) => boolean): string {
    return this.blocks
      .all()
      .filter(chosen)
      .map((block) => block.text)
      .join('');
  }

  private isShown(block: Block): boolean {
    return !this.folded.has(block.id) && this.views.get(block.id)?.root.hidden === false;
  }

  /** Says only what isn't so as a rule. */
  private showBadge({ fidelity, order, notice }: View): void {
    const failed = this.blocks.all().filter(({ error }) => error).length;
    this.failures.hidden = failed === 0;
    this.failures.textContent = `${failed} failed`;
    this.failures.title = 'Goes to the first section that could not be rendered';
    const old = order.length > 0 && isOld(notice);
    this.badge.hidden = fidelity !== 'static' && !old;
    this.badge.textContent = fidelity === 'static' ? 'Source only' : 'Last good';
    this.badge.title = fidelity === 'static' ? SOURCE_ONLY : LAST_GOOD;
  }

  private showNotice(notice: Notice | null): void {
    this.notice.hidden = notice === null;
    this.notice.className = `notice ${notice?.kind ?? ''}`;
    this.main.classList.toggle('outdated', isOld(notice));
    const actions = (notice?.actions ?? []).map(({ id, title }) =>
      button('', {}, () => void this.attempt({ action: 'notice', id }), title),
    );
    this.notice.replaceChildren(
      element('span', {}, notice?.text ?? ''),
      element('div.controls', {}, ...actions),
    );
  }

  private showFoot({ interpreter, milliseconds }: View): void {
    const took = typeof milliseconds === 'number' && `Rendered in ${amount(milliseconds)} ms`;
    // The reason's last words: the variable, the setting or the folder that it comes from.
    const from = interpreter?.reason.replace(
      /^the environment variable |^the nearest environment, /,
      '',
    );
    const python = interpreter && `Python ${interpreter.python ?? ''} from ${from}`;
    this.foot.title = interpreter?.path ?? '';
    this.foot.hidden = !took && !python;
    this.foot.replaceChildren(
      element('span', {}, ...withCode([took, python].filter(Boolean).join(' · '))),
      interpreter?.mismatch ? element('strong', {}, ` ${interpreter.mismatch}`) : '',
    );
  }

  /** Up and down walk the heads, left folds, right unfolds, o opens, c closes, p reads. */
  private key(event: KeyboardEvent): void {
    const target = event.target as Element;
    const root = target.matches('input, pre, a') ? null : target.closest<HTMLElement>('.block');
    const head = root?.querySelector<HTMLElement>('.fold');
    const id = root?.dataset.id;
    const block = id === undefined ? undefined : this.blocks.get(id);
    if (event.ctrlKey || event.altKey || event.metaKey || block === undefined || !head) {
      return;
    }
    const heads = [...this.text.querySelectorAll<HTMLElement>('.block:not([hidden]) .fold')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const summarized = block.enabled && block.visibility === 'SUMMARY';
    if (step !== undefined) {
      heads[heads.indexOf(head) + step]?.focus();
    } else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      this.toggle(block.id, event.key === 'ArrowLeft');
    } else if (event.key === 'o' && summarized) {
      void this.attempt({ action: 'openSections', key: block.key });
    } else if (event.key === 'c' && block.opened) {
      void this.attempt({ action: 'closeSections', key: block.key });
    } else if (event.key === 'p' && summarized) {
      root?.querySelector<HTMLElement>('.read')?.click();
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Runs a change of the page so that the first section in view stays where it is. */
  private keepingPlace(change: () => void): void {
    const edge = this.header.getBoundingClientRect().bottom;
    const top = [...this.views.values()].find(
      ({ root }) => !root.hidden && root.getBoundingClientRect().bottom > edge + ONE_LINE,
    );
    const before = top?.root.getBoundingClientRect().top ?? 0;
    const scrolled = scrollY > 0;
    change();
    if (scrolled && top?.root.isConnected) {
      scrollBy({ top: top.root.getBoundingClientRect().top - before });
    }
    this.inStep.moved();
  }

  private save(): void {
    const { view } = this;
    if (view === null || view.uri === '' || this.scrollWanted !== null) {
      return;
    }
    const blocks = this.blocks.all();
    this.host.save({
      uri: view.uri,
      name: view.name,
      folded: [...this.folded],
      mode: this.mode,
      tab: this.tab,
      drawer: this.controls.drawers.opened,
      details: !this.costs.root.hidden,
      scroll: scrollY,
      chosen: {
        opened: blocks.filter((block) => block.opened).map((block) => block.key),
        closed: (view.chapters ?? [])
          .filter(({ open, may_open }) => may_open && !open)
          .map(({ key }) => key),
        params: view.params ?? {},
        parameter_set: view.parameter_set ?? null,
      },
    });
  }
}

/** Whether what is shown may be an earlier text. */
function isOld(notice: Notice | null): boolean {
  return notice !== null && !['loading', 'untrusted'].includes(notice.kind);
}

const SOURCE_ONLY = 'Read from the source, not run: unknown values show as written';
const LAST_GOOD = 'The last version that rendered; the source has changed since';
