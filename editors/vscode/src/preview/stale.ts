import type { Stale } from '../wire';
import type { Notice } from './messages';

export const LAST_GOOD = 'This is the last good text. ';
const SOURCE_ALONE = 'This is rendered from the source alone. ';

export const UNTRUSTED: Notice = {
  kind: 'untrusted',
  text: `Nothing of this folder is executed before you trust it. ${SOURCE_ALONE.trim()}`,
  actions: [{ id: 'trust', title: 'Manage Trust' }],
};

/** The bar over a text that is not what the newest source gives when it is executed. */
export function staleNotice(stale: Stale, hasText: boolean, fidelity: string): Notice {
  if (stale.kind === 'untrusted') {
    return UNTRUSTED;
  }
  const shown = fidelity === 'static' ? SOURCE_ALONE : LAST_GOOD;
  return {
    kind: 'stale',
    text: (hasText ? shown : '') + sentence(stale.message),
    actions: stale.file === null ? [] : [{ id: 'revealProblem', title: 'Go to Problem' }],
  };
}

export function sentence(text: string): string {
  return /[.!?…:]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}
