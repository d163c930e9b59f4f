// Tabs as the keyboard knows them: arrows walk, the chosen one alone takes the focus.

import { button, element } from './dom';

interface Tab {
  button: HTMLButtonElement;
  panel: HTMLElement;
}

export class Tabs {
  readonly list = element('div.tablist', { role: 'tablist', 'aria-label': 'What to show' });
  private readonly tabs = new Map<string, Tab>();

  constructor(private readonly chosen: (name: string) => void) {
    this.list.addEventListener('keydown', (event) => this.key(event));
  }

  add(name: string, panel: HTMLElement): void {
    const [id, of] = [`tab-${name}`, `panel-${name}`];
    const made = button('tab', { role: 'tab', id, 'aria-controls': of }, () => this.choose(name));
    panel.id = of;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', id);
    this.tabs.set(name, { button: made, panel });
    this.list.append(made);
  }

  label(name: string, text: string, used = true): void {
    const tab = this.tabs.get(name);
    if (tab !== undefined) {
      tab.button.textContent = text;
      tab.button.hidden = !used;
      if (!used && tab.button.getAttribute('aria-selected') === 'true') {
        this.choose([...this.tabs.keys()][0] ?? name);
      }
    }
  }

  choose(name: string): void {
    for (const [known, { button: tab, panel }] of this.tabs) {
      tab.setAttribute('aria-selected', String(known === name));
      tab.tabIndex = known === name ? 0 : -1;
      panel.hidden = known !== name;
    }
    this.chosen(name);
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const shown = [...this.tabs].filter(([, { button: tab }]) => !tab.hidden);
    const at = shown.findIndex(([, { button: tab }]) => tab === event.target);
    const next = step === undefined ? undefined : shown.at((at + step) % shown.length);
    if (next !== undefined) {
      event.preventDefault();
      this.choose(next[0]);
      next[1].button.focus();
    }
  }
}
