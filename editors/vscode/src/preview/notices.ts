// The bars above a preview: what each says, and what it offers.

import { failureOf, messageOf } from '../failure';
import type { ServerState } from '../server';
import type { Stale } from '../wire';
import type { Notice } from './messages';

const LAST_GOOD = 'This is the last good text. ';

export const LOADING: Notice = { kind: 'loading', text: 'Rendering…', actions: [] };

export function staleNotice(stale: Stale, hasText: boolean): Notice {
  return {
    kind: 'stale',
    text: (hasText ? LAST_GOOD : '') + sentence(stale.message),
    actions: stale.file === null ? [] : [{ id: 'revealProblem', title: 'Go to Problem' }],
  };
}

export function serverNotice(state: ServerState): Notice | null {
  switch (state.kind) {
    case 'running':
      return null;
    case 'starting':
      return { kind: 'loading', text: 'The server starts…', actions: [] };
    case 'stopped':
      return {
        kind: 'stopped',
        text: sentence(state.reason),
        actions: [
          { id: 'restart', title: 'Restart Server' },
          { id: 'showLog', title: 'Show Log' },
        ],
      };
  }
}

/** Why there is no preview, or none but the one from before. */
export function failureNotice(error: unknown, hasText: boolean): Notice {
  const failure = failureOf(error);
  if (failure?.kind === 'untrusted') {
    return {
      kind: 'untrusted',
      text: 'Nothing of this folder is executed before you trust it, and the preview has to execute it.',
      actions: [{ id: 'trust', title: 'Manage Trust' }],
    };
  }
  return {
    kind: 'failed',
    text: (hasText ? LAST_GOOD : '') + sentence(messageOf(error)),
    actions: [
      ...(failure?.file ? [{ id: 'revealProblem' as const, title: 'Go to Problem' }] : []),
      { id: 'reload', title: 'Try Again' },
    ],
  };
}

function sentence(text: string): string {
  return /[.!?…:]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}
