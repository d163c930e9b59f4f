// The workspace of the controls' tests: ten modules of an invented company, good and bad ones.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { HERE } from './workbench.mjs';

/** The texts of `fixtures/acme.txt` by path: `#- path` begins each. */
export const ACME = Object.fromEntries(
  readFileSync(join(HERE, 'fixtures/acme.txt'), 'utf8')
    .split(/^#- /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end), part.slice(end + 1)];
    }),
);

/** The line of a module, counted from 1. */
export function lineOf(path, text) {
  const index = ACME[path].split('\n').findIndex((line) => line.includes(text));
  if (index === -1) {
    throw new Error(`${path} has no ${text}`);
  }
  return index + 1;
}
