// What opens below the bar, one thing at a time.

import { button, element } from './dom';

export class Drawers {
  /** What opens them, for a menu. */
  readonly buttons = element('div.group');
  readonly root = element('div.drawers');
  private readonly drawers = new Map<string, Drawer>();

  /** `changed` is called when one opens or closes; `home` takes the focus of one that closes. */
  constructor(
    private readonly changed: () => void,
    private readonly home: () => HTMLElement,
  ) {}

  /** The drawer that is open. */
  get opened(): string | null {
    return [...this.drawers].find(([, { panel }]) => !panel.hidden)?.[0] ?? null;
  }

  /** Adds a drawer with its button; `opened` is called whenever it opens. */
  add(name: string, label: string, content: HTMLElement, opened?: () => void): Drawer {
    const close = (): void => {
      this.toggle(name, false);
      this.home().focus();
    };
    const pressed = (): void => {
      this.toggle(name);
      if (!drawer.panel.hidden) {
        drawer.panel.focus();
        opened?.();
      }
    };
    const drawer = new Drawer(name, label, content, pressed, close);
    this.drawers.set(name, drawer);
    this.buttons.append(drawer.button);
    this.root.append(drawer.panel);
    return drawer;
  }

  open(name: string): void {
    this.toggle(name, true);
  }

  private toggle(name: string, open?: boolean): void {
    for (const [known, drawer] of this.drawers) {
      drawer.setOpen(known === name && (open ?? Boolean(drawer.panel.hidden)));
    }
    this.changed();
  }
}

export class Drawer {
  readonly button: HTMLButtonElement;
  readonly panel: HTMLElement;
  private readonly count = element('span.count');

  constructor(
    name: string,
    label: string,
    content: HTMLElement,
    pressed: () => void,
    close: () => void,
  ) {
    const id = `drawer-${name}`;
    this.button = button('', { 'aria-expanded': 'false', 'aria-controls': id }, pressed, label);
    this.button.append(this.count);
    this.panel = element(
      'section.drawer',
      { id, 'aria-label': label, tabindex: '-1' },
      element(
        'div.row',
        {},
        element('strong', {}, label),
        element('span.space'),
        button('', { 'aria-label': `Close ${label}`, title: 'Close' }, close, '×'),
      ),
      content,
    );
    this.panel.hidden = true;
    this.panel.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        close();
      }
    });
  }

  /** Shows a number beside the label, and whether there is anything to open. */
  tell(count: string, used = true): void {
    this.count.textContent = count && ` ${count}`;
    this.button.hidden = !used;
    if (!used) {
      this.setOpen(false);
    }
  }

  setOpen(open: boolean): void {
    this.panel.hidden = !open;
    this.button.setAttribute('aria-expanded', String(open));
  }
}
