import { ResponseError } from 'vscode-languageclient/node';

import type { Failure } from './wire';

/** What the server says about a command that failed, or null when it said nothing of its own. */
export function failureOf(error: unknown): Failure | null {
  if (!(error instanceof ResponseError) || typeof error.data !== 'object' || error.data === null) {
    return null;
  }
  const data = error.data as Partial<Failure>;
  return typeof data.kind === 'string' ? { ...data, kind: data.kind } : null;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
