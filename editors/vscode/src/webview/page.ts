// The whole page: a bar, a notice, the blocks and the tools, patched as messages arrive.

import type { FromPage, Notice, ToPage, View } from '../preview/messages';
import { Blocks } from '../preview/model';
import type { Block, Tool } from '../wire';
import { BlockView, type Mode, type Part } from './block';
import { Costs } from './costs';
import { button, element } from './dom';
import type { Token } from './tokens';

/** What a panel keeps while it is hidden, and after the window was reloaded. */
export interface PageState {
  uri: string;
  name: string;
  folded: string[];
  mode: Mode;
  scroll: number;
}

export interface Host {
  post(message: FromPage): void;
  load(): Partial<PageState>;
  save(state: PageState): void;
  markdown(block: Block, part: Part): readonly Token[];
  /** What else stands in the bar. */
  controls?: HTMLElement;
}

const FIDELITIES: Record<string, string> = {
  executed: 'Rendered by running the code of the prompt',
  static: 'Rendered from the source alone: unknown values show as written',
};

/** A section of which less than this many pixels are in view is not what is read. */
const ONE_LINE = 24;

const USER = 'user';

function roleOf(block: Block): string {
  return block.role ?? USER;
}

export class Page {
  private readonly blocks = new Blocks();
  private readonly views = new Map<string, BlockView>();
  private readonly folded: Set<string>;
  private mode: Mode;
  private prompt = { uri: '', name: '' };
  private scrollWanted: number | null;
  private reveals = true;

  private readonly name = element('h1');
  private readonly fidelity = element('span.fidelity');
  private readonly modeButton: HTMLButtonElement;
  private readonly foldButton: HTMLButtonElement;
  private readonly notice = element('div.notice', { role: 'status', 'aria-live': 'polite' });
  private readonly costs = new Costs((id) => this.views.get(id)?.root.scrollIntoView());
  private readonly main = element('main');
  private readonly tools = element('footer');

  constructor(private readonly host: Host) {
    const state = host.load();
    this.folded = new Set(state.folded ?? []);
    this.mode = state.mode ?? 'markdown';
    this.scrollWanted = state.scroll ?? null;
    this.modeButton = button('', { title: 'The exact text that the model gets' }, () => {
      this.mode = this.mode === 'text' ? 'markdown' : 'text';
      this.keepingPlace(() => this.draw());
    });
    this.modeButton.append('Text');
    this.foldButton = button('', {}, () => this.foldAll());
    this.notice.hidden = true;
    document.body.append(
      // What the reader must know stays in view with the bar, however far down the text is.
      element(
        'header',
        {},
        element(
          'div.bar',
          {},
          this.name,
          this.fidelity,
          element('span.space'),
          host.controls,
          this.modeButton,
          this.foldButton,
        ),
        this.costs.root,
        this.notice,
      ),
      this.main,
      this.tools,
    );
    this.main.addEventListener('keydown', (event) => this.key(event));
    addEventListener('scroll', () => this.save(), { passive: true });
    host.post({ type: 'ready' });
  }

  receive(message: ToPage): void {
    if (message.type === 'settled') {
      for (const view of this.views.values()) {
        if (view.key === message.key) {
          view.settle();
        }
      }
    } else {
      this.keepingPlace(() => this.show(message.view));
    }
  }

  private show(view: View): void {
    this.prompt = { uri: view.uri, name: view.name };
    this.name.textContent = view.name;
    this.fidelity.textContent = view.fidelity;
    this.fidelity.title = FIDELITIES[view.fidelity] ?? '';
    this.fidelity.hidden = view.fidelity === '';
    if (view.whole) {
      this.blocks.clear();
    }
    this.blocks.apply(view.order, view.blocks);
    this.reveals = view.reveals ?? true;
    this.draw();
    this.costs.show(this.blocks.all(), view.tokens, view.kept, view.cache, view.effects ?? []);
    this.showNotice(view.notice);
    this.showTools(view.tools);
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
    let next = this.main.firstElementChild;
    // One message of the user needs no name.
    let role = this.blocks.all().some((block) => roleOf(block) !== USER) ? '' : USER;
    for (const block of this.blocks.all()) {
      const view = this.viewOf(block);
      view.update(block, this.mode, this.reveals);
      view.begins(roleOf(block) === role ? null : roleOf(block));
      role = roleOf(block);
      if (view.root === next) {
        next = next.nextElementSibling;
      } else {
        this.main.insertBefore(view.root, next);
      }
    }
    this.applyFolds();
    this.modeButton.setAttribute('aria-pressed', String(this.mode === 'text'));
    this.save();
  }

  private viewOf(block: Block): BlockView {
    const there = this.views.get(block.id);
    if (there !== undefined) {
      return there;
    }
    const made = new BlockView(block, {
      fold: (id) => this.toggle(id),
      change: (change, key) => this.host.post({ type: change, key }),
      reveal: (id) => this.host.post({ type: 'reveal', id }),
      markdown: (shown, part) => this.host.markdown(shown, part),
    });
    this.views.set(block.id, made);
    return made;
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
    this.foldButton.hidden = this.modeButton.hidden = this.views.size === 0;
  }

  private showNotice(notice: Notice | null): void {
    this.notice.hidden = notice === null;
    this.notice.className = `notice ${notice?.kind ?? ''}`;
    const current = notice === null || ['loading', 'untrusted'].includes(notice.kind);
    this.main.classList.toggle('outdated', !current);
    const actions = (notice?.actions ?? []).map(({ id, title }) =>
      button('', {}, () => this.host.post({ type: 'action', id }), title),
    );
    this.notice.replaceChildren(element('span', {}, notice?.text ?? ''), ...actions);
  }

  private showTools(tools: readonly Tool[]): void {
    const open = this.tools.querySelector('details')?.open ?? false;
    this.tools.hidden = tools.length === 0;
    const list = tools.map((tool) => [
      element(
        'dt',
        {},
        element('code', {}, tool.name),
        tool.tokens !== undefined && ` ${tool.tokens.toLocaleString('en')} tokens`,
      ),
      element('dd', {}, tool.description),
    ]);
    const details = element(
      'details',
      {},
      element('summary', {}, `Tools (${tools.length})`),
      element('dl', {}, ...list.flat()),
    );
    details.open = open;
    this.tools.replaceChildren(details);
  }

  /** Up and down walk the heads, left folds, right unfolds, o opens and c closes the section. */
  private key(event: KeyboardEvent): void {
    const head = (event.target as Element).closest<HTMLElement>('.fold');
    const id = head?.closest<HTMLElement>('.block')?.dataset.id;
    const block = id === undefined ? undefined : this.blocks.get(id);
    if (event.ctrlKey || event.altKey || event.metaKey || block === undefined || head === null) {
      return;
    }
    const heads = [...this.main.querySelectorAll<HTMLElement>('.block:not([hidden]) .fold')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      heads[heads.indexOf(head) + step]?.focus();
    } else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      this.toggle(block.id, event.key === 'ArrowLeft');
    } else if (event.key === 'o' && block.enabled && block.visibility === 'SUMMARY') {
      this.host.post({ type: 'open', key: block.key });
    } else if (event.key === 'c' && block.opened) {
      this.host.post({ type: 'close', key: block.key });
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Runs a change of the page so that the first section in view stays where it is. */
  private keepingPlace(change: () => void): void {
    const edge = this.main.previousElementSibling?.getBoundingClientRect().bottom ?? 0;
    const top = [...this.views.values()].find(
      ({ root }) => !root.hidden && root.getBoundingClientRect().bottom > edge + ONE_LINE,
    );
    const before = top?.root.getBoundingClientRect().top ?? 0;
    const scrolled = scrollY > 0;
    change();
    if (scrolled && top?.root.isConnected) {
      scrollBy({ top: top.root.getBoundingClientRect().top - before });
    }
  }

  private save(): void {
    if (this.prompt.uri !== '' && this.scrollWanted === null) {
      this.host.save({
        ...this.prompt,
        folded: [...this.folded],
        mode: this.mode,
        scroll: scrollY,
      });
    }
  }
}
