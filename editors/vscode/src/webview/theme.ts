// The colours of the page in a browser: light, dark, or as the system has them.

import { element } from './dom';

const KEY = 'foldline-theme';
const THEMES = { 'light dark': 'System', light: 'Light', dark: 'Dark' };

/** A list of themes, which applies the one that was chosen last. */
export function themeSwitch(): HTMLElement {
  const options = Object.entries(THEMES).map(([value, name]) => element('option', { value }, name));
  const list = element('select.theme', {}, ...options);
  const stored = localStorage.getItem(KEY) ?? '';
  list.value = stored in THEMES ? stored : 'light dark';
  const apply = (): void => {
    document.documentElement.style.colorScheme = list.value;
    localStorage.setItem(KEY, list.value);
  };
  list.addEventListener('change', apply);
  apply();
  return element('label.row', {}, 'Theme', list);
}
