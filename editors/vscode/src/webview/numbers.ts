// How numbers are written: the same everywhere.

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

export function share(part: number, whole: number): string {
  return whole === 0 ? '0%' : `${Math.round((100 * part) / whole)}%`;
}
