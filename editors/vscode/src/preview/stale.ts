// Why a text is not what the newest source gives when it is executed.

import type { Stale } from '../wire';
import type { Notice, NoticeAction } from './messages';

export const LAST_GOOD = 'Showing the last version that rendered. ';
const SOURCE_ALONE = 'Showing the source, not executed. ';

export const UNTRUSTED: Notice = {
  kind: 'untrusted',
  text: `${SOURCE_ALONE}Nothing of this folder runs before you trust it.`,
  actions: [{ id: 'trust', title: 'Manage Trust' }],
};

type Failed = Pick<Stale, 'kind' | 'message'> & { interpreter?: string | null };

/** Failures that another interpreter may not have. */
const OF_THE_INTERPRETER = ['interpreter', 'no_foldline'];
const MISSING_MODULE = /(ModuleNotFound|Import)Error/;

/** The bar over a text; `uri` is the module that is shown. */
export function staleNotice(stale: Stale, hasText: boolean, fidelity: string, uri = ''): Notice {
  if (stale.kind === 'untrusted') {
    return UNTRUSTED;
  }
  const shown = fidelity === 'static' ? SOURCE_ALONE : LAST_GOOD;
  return {
    kind: 'stale',
    text: (hasText ? shown : '') + sentence(problemOf(stale, uri)) + usedBy(stale),
    actions: actionsOf(stale.kind, stale.message, stale.file),
  };
}

/** The Python that was used, where another one may do better. */
export function usedBy({ kind, message, interpreter }: Failed): string {
  return interpreter && isOfInterpreter(kind, message) && !message.includes(interpreter)
    ? ` It ran in ${interpreter}.`
    : '';
}

function isOfInterpreter(kind: string, message: string): boolean {
  return OF_THE_INTERPRETER.includes(kind) || MISSING_MODULE.test(message);
}

/** What can be done about a failure. */
export function actionsOf(kind: string, message: string, file?: string | null): Notice['actions'] {
  const actions: { id: NoticeAction; title: string }[] = [];
  if (file) {
    actions.push({ id: 'revealProblem', title: 'Go to Problem' });
  }
  if (isOfInterpreter(kind, message)) {
    actions.push({ id: 'chooseInterpreter', title: 'Choose Interpreter' });
  }
  return actions;
}

/** The message with its place said once: `Line 85: invalid syntax`. */
function problemOf({ message, file, line }: Stale, uri: string): string {
  const name = file?.split('/').at(-1) ?? '';
  const start = `${name}:${line}: `;
  if (file === null || line === null || !message.startsWith(start)) {
    return message;
  }
  const what = message.slice(start.length).replace(/^this isn't Python: /, '');
  return decodeURI(uri).endsWith(file) ? `Line ${line}: ${what}` : `${name}, line ${line}: ${what}`;
}

export function sentence(text: string): string {
  return /[.!?…:]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}
