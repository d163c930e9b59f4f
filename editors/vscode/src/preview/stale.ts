import type { Stale } from '../wire';
import type { Notice } from './messages';

export const LAST_GOOD = 'This is the last good text. ';

/** The bar over a text that is not that of the newest source. */
export function staleNotice(stale: Stale, hasText: boolean): Notice {
  return {
    kind: 'stale',
    text: (hasText ? LAST_GOOD : '') + sentence(stale.message),
    actions: stale.file === null ? [] : [{ id: 'revealProblem', title: 'Go to Problem' }],
  };
}

export function sentence(text: string): string {
  return /[.!?…:]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}
