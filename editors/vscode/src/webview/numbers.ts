// How numbers are written: the same everywhere.

import type { CachePlan, IfOpened } from '../wire';

export function amount(count: number): string {
  return count.toLocaleString('en').replace('-', '\u2212');
}

export function counted(count: number, word: string): string {
  return `${amount(count)} ${word}${count === 1 ? '' : 's'}`;
}

/** A difference: `+12`. */
export function change(count: number): string {
  return `${count < 0 ? '' : '+'}${amount(count)}`;
}

/** What opening a section costs, and what of the cached prefix is read again then. */
export function ifOpened(cost: IfOpened, plan: CachePlan | null, about = ''): string {
  const parts = cost.tools === 0 ? '' : ` (${change(cost.text)} text, ${change(cost.tools)} tools)`;
  const read = cost.breakpoint === null ? 0 : (plan?.breakpoints[cost.breakpoint]?.tokens ?? 0);
  const again = (plan?.cached ?? 0) - read;
  const lost = again > 0 ? `, ${amount(again)} cached tokens read again` : '';
  return `${about}${change(cost.total)} if opened${parts}${lost}`;
}

export function share(part: number, whole: number): string {
  return whole === 0 ? '0%' : `${Math.round((100 * part) / whole)}%`;
}
