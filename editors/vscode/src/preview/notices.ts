// The bars above a preview: what each says, and what it offers.

import { failureOf, messageOf } from '../failure';
import type { ServerState } from '../server';
import type { Notice } from './messages';
import { LAST_GOOD, UNTRUSTED, actionsOf, sentence, usedBy } from './stale';

/** What is shown before a preview is there: a restricted folder's is read, not run. */
export function loadingNotice(name: string, trusted: boolean): Notice {
  return { kind: 'loading', text: `${trusted ? 'Running' : 'Reading'} ${name}…`, actions: [] };
}

export function serverNotice(state: ServerState): Notice | null {
  switch (state.kind) {
    case 'running':
      return null;
    case 'starting':
      return { kind: 'loading', text: 'Starting foldline’s server…', actions: [] };
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
    return UNTRUSTED;
  }
  return {
    kind: 'failed',
    text:
      (hasText ? LAST_GOOD : '') +
      sentence(messageOf(error)) +
      usedBy({ ...failure, kind: failure?.kind ?? '', message: messageOf(error) }),
    actions: [
      ...actionsOf(failure?.kind ?? '', messageOf(error), failure?.file),
      { id: 'reload', title: 'Try Again' },
    ],
  };
}
