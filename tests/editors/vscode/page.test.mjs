// The preview's page alone in Chromium, fed by hand: what it shows, keeps and sends.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';

import { EXTENSION, launchBrowser } from './workbench.mjs';

const SCRIPT = readFileSync(join(EXTENSION, 'out/webview.js'), 'utf8');
const STYLE = readFileSync(join(EXTENSION, 'media/preview.css'), 'utf8');

let browser;
let page;

before(async () => {
  browser = await launchBrowser();
});

after(() => browser?.close());

beforeEach(async () => {
  await page?.close();
  page = await browser.newPage({ viewport: { width: 600, height: 400 } });
  await openPage();
});

test('a section shows its number, its title and its Markdown', async () => {
  await show([block('a', { title: 'Rules', text: '- **one**\n- `two`\n\n| x | y |\n|--|--:|\n| 1 | 2 |' })]);
  assert.equal(await page.getByRole('heading', { level: 2 }).innerText(), '1\nRules');
  assert.equal(await page.locator('li strong').innerText(), 'one');
  assert.equal(await page.locator('li code').innerText(), 'two');
  assert.equal(await page.locator('td.right').innerText(), '2');
});

test('markup in a prompt stays text, as Markdown and as sent', async () => {
  const evil = [
    '<img src=x onerror="window.pwned = 1"><script>window.pwned = 1</script>',
    '',
    '<style>body { display: none }</style>',
    '',
    '[run](javascript:window.pwned=1) ![pic](https://example.com/a.png) [data](data:text/html,x)',
    '',
    '<iframe srcdoc="<script>parent.pwned = 1</script>"></iframe>',
  ].join('\n');
  await show([block('a', { title: '<b onclick=x>T</b>', text: evil })], { tools: [tool('<i>t</i>', '<u>d</u>')] });
  const allowed = async () =>
    page.evaluate(() => document.querySelectorAll('img, style:not([id]), iframe, b, i, u, a').length);
  assert.equal(await allowed(), 0);
  assert.match(await page.locator('.body').innerText(), /<script>window\.pwned = 1<\/script>/);
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  assert.equal(await allowed(), 0);
  assert.equal(await page.locator('pre.text').textContent(), `## 1. <b onclick=x>T</b>\n\n${evil}\n\n`);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
});

test('only links to the web and to mail can be followed', async () => {
  const text = '[web](https://example.com/) [mail](mailto:a@example.com) [file](file:///etc/passwd) [here](#x)';
  await show([block('a', { text })]);
  const targets = await page.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  assert.deepEqual(targets, ['https://example.com/', 'mailto:a@example.com']);
});

test('Text shows the very characters that are sent, with what was filled in marked', async () => {
  const blocks = [
    block('a', {
      segments: [
        { kind: 'heading', text: '## 1. A' },
        { kind: 'separator', text: '\n\n' },
        { kind: 'literal', text: 'Hello ' },
        { kind: 'param', text: 'Ada', field: 'name' },
      ],
    }),
  ];
  await show(blocks);
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  assert.equal(await page.locator('main').textContent().then((text) => text.includes('## 1. A\n\nHello Ada')), true);
  assert.equal(await page.locator('.segment.param').getAttribute('title'), 'name: value of a parameter');
});

test('Open asks for a summarised section, Close for one that was opened', async () => {
  await show([
    block('a', { visibility: 'SUMMARY', title: 'Docs', key: 'p.a' }),
    block('b', { opened: true, title: 'Rules' }),
    block('c'),
    block('d', { visibility: 'SUMMARY', enabled: false }),
  ]);
  assert.equal(await page.locator('.change:visible').count(), 2);
  await page.getByRole('button', { name: 'Open 1 Docs' }).click();
  await page.getByRole('button', { name: 'Close 2 Rules' }).click();
  assert.deepEqual((await sent()).slice(1), [
    { type: 'open', key: 'p.a' },
    { type: 'close', key: 'b' },
  ]);
});

test('a button that was pressed waits for its answer', async () => {
  await show([block('a', { visibility: 'SUMMARY', title: 'Docs' })]);
  const open = page.getByRole('button', { name: 'Open 1 Docs' });
  await open.click();
  assert.equal(await open.isDisabled(), true);
  await post({ type: 'settled', key: 'a' });
  assert.equal(await open.isDisabled(), false);
});

test('each section says what it costs, and the strip what of it a cache keeps', async () => {
  const blocks = [
    block('a', { tokens: { self: 1, subtree: 31, if_opened: null } }),
    block('a/b', { depth: 1, visibility: 'SUMMARY', tokens: { self: 30, subtree: 30, if_opened: 1200 } }),
  ];
  const tokens = { text: 31, tools: 20, output: 0, total: 51, encoding: 'o200k', exact: false };
  await show(blocks, { tokens, kept: { characters: blocks[0].text.length, tokens: 1, tools: true } });
  const costs = await page.locator('.costs').evaluateAll((made) => made.map((each) => [...each.children].map((cost) => cost.textContent)));
  assert.deepEqual(costs, [['1 token', '31 in all'], ['30 tokens', '1,200 opened']]);
  assert.equal(await page.locator('.words').innerText(), '51 tokens · 20 of them tools · estimated\nthe cache keeps 21 of them');
  assert.deepEqual(await page.locator('.piece').evaluateAll((made) => made.map((each) => each.className)), [
    'piece full',
    'piece folded fresh',
  ]);
  await update(['a', 'a/b'], [], { tokens, kept: { characters: 0, tokens: 0, tools: false } });
  assert.match(await page.locator('.words').innerText(), /the tools changed: the cache keeps nothing/);
  await show(blocks);
  assert.equal(await page.locator('.total').isVisible(), false);
});

test('a section that could not be rendered says why, and the others are there', async () => {
  await show([block('a', { text: '', error: { message: "KeyError: '<b>'" } }), block('b', { text: 'fine' })]);
  assert.equal(await page.getByRole('alert').innerText(), "KeyError: '<b>'");
  assert.equal(await page.getByText('fine').isVisible(), true);
  await update(['a', 'b'], [block('a', { text: 'mended', error: null })]);
  assert.equal(await page.getByRole('alert').count(), 0);
});

test('the bar says what the module does beside its prompts', async () => {
  const tokens = { text: 4, tools: 0, output: 0, total: 4, encoding: 'o200k', exact: true };
  const effects = [{ line: 5, message: 'opened a connection' }, { line: 7, message: 'forked' }];
  await show([block('a')], { tokens, effects });
  assert.equal(await page.locator('.effects').innerText(), 'line 5 opened a connection · line 7 forked');
