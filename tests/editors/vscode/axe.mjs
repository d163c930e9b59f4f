// What axe-core finds wrong in a page for people who don't see it or use no mouse.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails with each violation and the elements that it is about. */
export async function assertAccessible(frame, where) {
  // The policies of the pages allow no script to be added; the debugger may.
  const found = await frame.locator('html').evaluate(async (root, source) => {
    if (window.axe === undefined) {
      (0, eval)(source);
    }
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => ({
      id,
      nodes: nodes.slice(0, 4).map(({ html, any }) => [html.slice(0, 160), any[0]?.message]),
    }));
  }, AXE);
  assert.deepEqual(found, [], where);
}
