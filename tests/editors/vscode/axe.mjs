// What axe-core finds wrong in a page for people who don't see it or use no mouse.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails with each violation and the elements that it is about. `page` may be a frame of one. */
export async function assertAccessible(page, where) {
  // The policies of the pages allow no script to be added; the debugger may run one.
  await page.evaluate(`${AXE}; undefined`);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run({ resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => ({
      id,
      nodes: nodes.slice(0, 4).map(({ html, any }) => [html.slice(0, 160), any[0]?.message]),
    }));
  });
  assert.deepEqual(found, [], where);
}
