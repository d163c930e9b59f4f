// The preview's page alone in Chromium, fed by hand: what it shows, keeps and sends.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';

import { EXTENSION, launchBrowser, menu } from './workbench.mjs';

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
  await show([
    block('a', { title: 'Rules', text: '- **one**\n- `two`\n\n| x | y |\n|--|--:|\n| 1 | 2 |' }),
  ]);
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
  await show([block('a', { title: '<b onclick=x>T</b>', text: evil })], {
    tools: [tool('<i>t</i>', '<u>d</u>')],
  });
  const allowed = async () =>
    page.evaluate(
      () => document.querySelectorAll('img, style:not([id]), iframe, b, i, u, a').length,
    );
  assert.equal(await allowed(), 0);
  assert.match(await page.locator('.body').innerText(), /<script>window\.pwned = 1<\/script>/);
  await menu(page, 'Show Exact Text');
  assert.equal(await allowed(), 0);
  assert.equal(
    await page.locator('pre.text').textContent(),
    `## 1. <b onclick=x>T</b>\n\n${evil}\n\n`,
  );
  assert.equal(await page.evaluate(() => window.pwned), undefined);
});

test('the reading view says its name, decodes nothing, and keeps the lines of a value', async () => {
  await show([block('a', { text: '<ticket>\nIt says &lt;/ticket>\nand goes on\n</ticket>' })]);
  assert.equal(
    await page.locator('.body').innerText(),
    '<ticket>\nIt says &lt;/ticket>\nand goes on\n</ticket>',
  );
  await menu(page, 'Show Exact Text');
  await page.locator('.menu > summary').click();
  assert.equal(await page.getByRole('button', { name: 'Show Reading View' }).isVisible(), true);
});

test('only links to the web and to mail can be followed', async () => {
  const text =
    '[web](https://example.com/) [mail](mailto:a@example.com) [file](file:///etc/passwd) [here](#x)';
  await show([block('a', { text })]);
  const targets = await page
    .locator('a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
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
  await menu(page, 'Show Exact Text');
  assert.equal(
    await page
      .locator('main')
      .textContent()
      .then((text) => text.includes('## 1. A\n\nHello Ada')),
    true,
  );
  assert.equal(
    await page.locator('.segment.param').getAttribute('title'),
    'name: value of a parameter',
  );
});

test('Open asks for a summarized section, Close for one that was opened', async () => {
  await show([
    block('a', { visibility: 'SUMMARY', title: 'Docs', key: 'p.a' }),
    block('b', { opened: true, title: 'Rules' }),
    block('c'),
    block('d', { visibility: 'SUMMARY', enabled: false }),
  ]);
  assert.equal(await page.locator('.change:visible').count(), 2);
  await page.getByRole('button', { name: 'Open 1 Docs' }).click();
  await page.getByRole('button', { name: 'Close 2 Rules' }).click();
  assert.deepEqual(await actions(), [
    { action: 'openSections', key: 'p.a' },
    { action: 'closeSections', key: 'b' },
  ]);
});

test('a button that was pressed waits for its answer', async () => {
  await show([block('a', { visibility: 'SUMMARY', title: 'Docs' })]);
  const open = page.getByRole('button', { name: 'Open 1 Docs' });
  await open.click();
  assert.equal(await open.isDisabled(), true);
  await answer(undefined);
  assert.equal(await open.isDisabled(), false);
});

const ALL = { tools: 0, output: 0, encoding: 'o200k', exact: true, words: ['some tokens'] };

test('each section says what it costs, and the strip what of it a cache keeps', async () => {
  const blocks = [
    block('a', { tokens: { self: 1, subtree: 31, if_opened: null } }),
    block('a/b', {
      depth: 1,
      visibility: 'SUMMARY',
      tokens: {
        ...{ self: 30, subtree: 30 },
        if_opened: { text: 14, tools: -98, total: -84, breakpoint: 0 },
      },
    }),
    block('c', {
      visibility: 'SUMMARY',
      tokens: {
        ...{ self: 30, subtree: 30 },
        if_opened: { text: 1_170, tools: 0, total: 1_170, breakpoint: null },
      },
    }),
  ];
  const tokens = {
    ...{ text: 61, tools: 20, output: 0, total: 81, encoding: 'o200k', exact: false },
    words: ['~81 tokens', 'Text: ~61 tokens', 'Tools: ~20 tokens'],
  };
  const mark = { part: 'user', offset: 1, tokens: 1_100, kept: true };
  const plan = { sentence: '', stages: [], cached: 2_124, breakpoints: [mark] };
  await show(blocks, {
    tokens,
    kept: { characters: blocks[0].text.length, tools: true, cached: 21, words: '21 reusable' },
    cache: plan,
  });
  await details();
  const costs = await page
    .locator('.costs')
    .evaluateAll((made) => made.map((each) => [...each.children].map((cost) => cost.textContent)));
  assert.deepEqual(costs, [
    ['~1 token', '~31 in all'],
    ['~30 tokens', '~−84 if opened (+14 text, −98 tools), 1,024 cached tokens read again'],
    ['~30 tokens', '~+1,170 if opened, 2,124 cached tokens read again'],
  ]);
  assert.equal(
    await page.locator('.words').innerText(),
    'Text: ~61 tokens\nTools: ~20 tokens\nAfter the last change: 21 reusable',
  );
  assert.equal(await number().innerText(), '~81 tokens');
  assert.match(await number().getAttribute('title'), /Estimated/);
  assert.deepEqual(
    await page.locator('.piece').evaluateAll((made) => made.map((each) => each.className)),
    ['piece full breakpoint', 'piece folded fresh', 'piece folded fresh'],
  );
  // Without a plan nothing is known of caches.
  await update(['a', 'a/b', 'c'], [], { tokens, cache: null });
  assert.equal(await page.locator('[data-id="c"] .if-opened').innerText(), '~+1,170 if opened');
  await show(blocks);
  assert.equal(await page.locator('.strip').isVisible(), false);
});

test('the strip has a mark where a provider can be asked to keep what is in front', async () => {
  const blocks = [block('a'), block('b'), block('c')];
  const offset = blocks[0].text.length + blocks[1].text.length;
  const mark = { part: 'user', offset, tokens: 1_300, kept: true };
  await show(blocks, {
    tokens: { ...ALL, text: 51, total: 51 },
    cache: {
      stages: [],
      sentence: 'Can be cached: 1,300 tokens in every request',
      cached: 1_300,
      breakpoints: [mark, { ...mark, offset: 1, kept: false }],
    },
  });
  assert.deepEqual(
    await page.locator('.piece').evaluateAll((made) => made.map((each) => each.className)),
    ['piece full', 'piece full breakpoint', 'piece full'],
  );
  assert.match(
    await page.locator('.piece.breakpoint').getAttribute('title'),
    /a cache can keep the 1,300 tokens up to here/,
  );
});

test('the plan is a list of what changes, how often, and what that costs', async () => {
  const tokens = { ...ALL, text: 1_400, total: 1_400 };
  const stages = [
    {
      ...{ first: 'tools', last: 'b', tokens: 1_300, why: 'stable: a (name)', change: 1_400 },
      breakpoint: 'Cache breakpoint here: stays the same in every request',
    },
    {
      ...{ first: 'c', last: 'c', tokens: 100, why: 'per request: c (time)', change: 100 },
      breakpoint: null,
    },
  ];
  const cache = { sentence: 'Can be cached', cached: 1_300, breakpoints: [], stages };
  await show([block('a'), block('b'), block('c')], { tokens, cache });
  const list = page.locator('.stages');
  assert.equal(await list.count(), 0);
  await details();
  await page.getByRole('tab', { name: 'Costs' }).click();
  const rows = () =>
    list
      .locator('li')
      .evaluateAll((made) => made.map((row) => [...row.children].map((part) => part.textContent)));
  assert.deepEqual(await rows(), [
    [
      'Tools to 2 b',
      '1,300 tokens',
      'Changes with a deployment, by a (name). Re-read if changed: 1,400 tokens',
      'Cache breakpoint here: stays the same in every request',
    ],
    ['3 c', '100 tokens', 'Changes with each request, by c (time). Re-read if changed: 100 tokens'],
  ]);
  const constant = [{ ...stages[1], why: 'constant' }];
  await update(['a', 'b', 'c'], [], { tokens, cache: { ...cache, stages: constant } });
  assert.deepEqual(await rows(), [['3 c', '100 tokens', 'Never changes.']]);
  await update(['a', 'b', 'c'], [], { tokens, cache: { ...cache, stages: stages.slice(1) } });
  assert.equal(await list.isVisible(), true, 'the tab stays');
  assert.equal((await rows()).length, 1);
  await update(['a', 'b', 'c'], [], { tokens, cache: { ...cache, sentence: '', stages: [] } });
  assert.equal(await list.count(), 0);
});

test('the parts of a prompt say the role that they have', async () => {
  const blocks = [
    block('a', { role: 'system' }),
    block('a/b', { role: 'system', depth: 1 }),
    block('c', { role: 'developer' }),
    block('d'),
    block('e'),
  ];
  await show(blocks);
  const roles = () =>
    page
      .locator('.role:visible')
      .evaluateAll((made) => made.map((each) => [each.parentElement.dataset.id, each.textContent]));
  assert.deepEqual(await roles(), [
    ['a', 'system message'],
    ['c', 'developer message'],
    ['d', 'user message'],
  ]);
  await update(['d', 'e'], []);
  assert.deepEqual(await roles(), [], 'one message of the user needs no name');
});

test('a section that could not be rendered says why, and the others are there', async () => {
  await show([
    block('a', { text: '', error: { message: "KeyError: '<b>'" } }),
    block('b', { text: 'fine' }),
  ]);
  assert.equal(await page.getByRole('alert').innerText(), "KeyError: '<b>'");
  assert.equal(await page.getByText('fine').isVisible(), true);
  await update(['a', 'b'], [block('a', { text: 'mended', error: null })]);
  assert.equal(await page.getByRole('alert').count(), 0);
});

test('behind the number stands what the module does beside its prompts', async () => {
  const tokens = { ...ALL, text: 4, total: 4 };
  const effects = [
    { line: 5, message: 'opened a connection' },
    { line: 7, message: 'forked' },
  ];
  await show([block('a')], { tokens, effects });
  await details();
  assert.equal(
    await page.locator('.effects').innerText(),
    'line 5 opened a connection · line 7 forked',
  );
});

test('a folded section hides itself and all below it, and stays folded when it changes', async () => {
  await show([block('a'), block('a/x', { depth: 1 }), block('a/x/y', { depth: 2 }), block('b')]);
  await page.getByRole('button', { name: '1 a' }).first().click();
  assert.deepEqual(await visibleIds(), ['a', 'b']);
  assert.equal(await page.locator('[data-id="a"] .body').isVisible(), false);
  await update(['a', 'a/x', 'a/x/y', 'b'], [block('a', { text: 'changed' })]);
  assert.deepEqual(await visibleIds(), ['a', 'b']);
  await menu(page, 'Unfold All');
  assert.deepEqual(await visibleIds(), ['a', 'a/x', 'a/x/y', 'b']);
});

test('an update touches the changed block alone, and drops, adds and moves others', async () => {
  await show([block('a'), block('b'), block('c')]);
  await page.evaluate(() => {
    for (const section of document.querySelectorAll('.block')) {
      section.body = section.querySelector('.body').firstChild;
    }
  });
  await update(['a', 'c', 'd', 'b'], [block('b', { text: 'other' }), block('d')]);
  const kept = await page
    .locator('.block')
    .evaluateAll((sections) =>
      sections.map((section) => [
        section.dataset.id,
        section.body === undefined
          ? 'new'
          : section.body === section.querySelector('.body').firstChild
            ? 'kept'
            : 'changed',
      ]),
    );
  assert.deepEqual(kept, [
    ['a', 'kept'],
    ['c', 'kept'],
    ['d', 'new'],
    ['b', 'changed'],
  ]);
});

test('the focus stays on a section while its text changes', async () => {
  await show([block('a'), block('b')]);
  await page.getByRole('button', { name: '2 b' }).focus();
  await update(
    ['a', 'b'],
    [block('a', { text: 'one' }), block('b', { text: 'two', title: 'renamed' })],
  );
  assert.match(await page.evaluate(() => document.activeElement.textContent), /renamed/);
});

test('what is read stays where it is when the text above it grows', async () => {
  const long = 'word '.repeat(400);
  await show([block('a', { text: long }), block('b', { text: long }), block('c', { text: long })]);
  await page.evaluate(() => document.querySelector('[data-id="b"]').scrollIntoView());
  await page.evaluate(() => scrollBy(0, 60));
  const place = () =>
    page.evaluate(() => document.querySelector('[data-id="b"]').getBoundingClientRect().top);
  const before = await place();
  await update(
    ['z', 'a', 'b', 'c'],
    [block('z', { text: long }), block('a', { text: long + long })],
  );
  assert.ok(Math.abs((await place()) - before) <= 1, `${before} became ${await place()}`);
});

test('folds, the mode and the place come back after the panel was hidden', async () => {
  const blocks = [
    block('a', { text: 'word '.repeat(2000) }),
    block('b'),
    block('c', { text: 'x '.repeat(2000) }),
  ];
  await show(blocks);
  await page.getByRole('button', { name: '2 b' }).click();
  await menu(page, 'Show Exact Text');
  await page.evaluate(() => scrollTo(0, 500));
  await page.waitForFunction(() => window.state?.scroll === 500);
  const state = await page.evaluate(() => window.state);
  await page.close();
  page = await browser.newPage({ viewport: { width: 600, height: 400 } });
  await openPage(state);
  await show(blocks);
  assert.equal(await page.evaluate(() => scrollY), 500);
  assert.equal(await page.locator('[data-id="b"] .fold').getAttribute('aria-expanded'), 'false');
  assert.equal(await page.locator('pre.text').count(), 3);
});

test('the keyboard walks, folds, opens and closes sections', async () => {
  await show([block('a'), block('b', { visibility: 'SUMMARY' }), block('c', { opened: true })]);
  await page.getByRole('button', { name: '1 a' }).focus();
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.locator('[data-id="a"] .body').isVisible(), false);
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.locator('[data-id="a"] .body').isVisible(), true);
  for (const key of ['o', 'ArrowDown', 'c', 'o', 'ArrowDown', 'o', 'c', 'ArrowUp', 'Enter']) {
    await page.keyboard.press(key);
  }
  assert.deepEqual(await actions(), [
    { action: 'openSections', key: 'b' },
    { action: 'closeSections', key: 'c' },
  ]);
  assert.equal(await page.locator('[data-id="b"] .body').isVisible(), false);
});

test('a notice says why the text is old, beside the text, and offers what to do', async () => {
  const notice = {
    kind: 'stale',
    text: 'Last good text.',
    actions: [{ id: 'revealProblem', title: 'Go to Problem' }],
  };
  await show([block('a', { text: 'still here' })], { notice });
  assert.match(await page.getByRole('status').innerText(), /Last good text\./);
  assert.equal(await page.getByText('still here').isVisible(), true);
  await page.getByRole('button', { name: 'Go to Problem' }).click();
  assert.deepEqual((await actions()).at(-1), { action: 'notice', id: 'revealProblem' });
  await show([block('a')], { notice: null });
  assert.equal(await page.getByRole('status').isVisible(), false);
});

test('the form keeps what was typed until it is right, and says what refused it', async () => {
  const field = (name, type, value, rest = {}) => ({
    ...{ name, type, value, doc: '', required: false, default: null, choices: null },
    ...{ editable: true, shown: String(value), origin: { source: 'default' }, ...rest },
  });
  const fields = [
    field('seats', 'int', 1),
    field('vip', 'bool', false, { choices: [false, true] }),
    field('tags', 'list[str]', ['a']),
    field('nick', 'str | None', null),
    field('plan', "Literal['free', 'team']", 'free', { choices: ['free', 'team'] }),
    field('made', 'str', '‹made›', { origin: { source: 'generated' } }),
    field('when', 'datetime', null, { editable: false, shown: 'datetime(2020, 1, 1)' }),
  ];
  const parameters = [{ type: 'Who', section: null, doc: 'Somebody.', fields }];
  const rest = { parameters, params: {}, generated: ['Who.made'] };
  await show([block('a')], rest);
  await page.getByRole('button', { name: '1 made up' }).click();
  assert.equal(await page.locator('.made-up .made').innerText(), 'made up');
  assert.equal(await page.locator('.fixed:visible').innerText(), 'datetime(2020, 1, 1)');
  const type = async (name, text) => {
    await page.getByLabel(name, { exact: true }).fill(text);
    await page.keyboard.press('Tab');
  };
  await type('seats', '1.5');
  assert.equal(
    await page.locator('.problem:visible').innerText(),
    'Type a whole number, such as 3.',
  );
  await show([block('a', { text: 'other' })], rest);
  assert.equal(
    await page.getByLabel('seats', { exact: true }).inputValue(),
    '1.5',
    'an update takes nothing away',
  );
  assert.deepEqual(await actions(), []);
  await type('seats', '4');
  await refuse('params: Who: a customer has at least one seat');
  assert.equal(
    await page.locator('.problem:visible').innerText(),
    'A customer has at least one seat',
  );
  for (const width of [390, 700]) {
    await page.setViewportSize({ width, height: 400 });
    const top = (name) =>
      page
        .locator('.field', { has: page.getByLabel('seats', { exact: true }) })
        .locator(name)
        .evaluate((made) => made.getBoundingClientRect().top);
    const [value, problem, about] = [
      await top('.value'),
      await top('.problem'),
      await top('.about'),
    ];
    assert.ok(value < problem, `at ${width} px the problem is below its field`);
    assert.ok(width > 544 || problem < about, 'and nothing is between');
  }
  assert.equal(
    await page.getByLabel('seats', { exact: true }).getAttribute('aria-invalid'),
    'true',
  );
  await type('tags', '["b"]');
  await type('nick', 'Al');
  await page.getByLabel('vip', { exact: true }).check();
  await page.getByLabel('plan', { exact: true }).selectOption('team');
  assert.deepEqual(
    (await actions()).map(({ params }) => params.Who),
    [{ seats: 4 }, { tags: ['b'] }, { nick: 'Al' }, { vip: true }, { plan: 'team' }],
  );
  const set = { Who: { seats: 4, vip: true } };
  await show([block('a')], { ...rest, params: set });
  await page.getByRole('button', { name: 'Reset vip' }).click();
  assert.deepEqual((await actions()).at(-1), {
    action: 'setParams',
    params: { Who: { seats: 4 } },
  });
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.drawer:visible').count(), 0);
});

test('the text, the messages and what is shown are copied', async () => {
  await show([block('a', { role: 'system' }), block('b'), block('c')]);
  await page.getByRole('button', { name: '3 c' }).click();
  const copied = async (name) => {
    await menu(page, name);
    return (await actions()).at(-1).text;
  };
  assert.match(await copied('Copy Text'), /text of a[^]*text of b[^]*text of c/);
  assert.doesNotMatch(await copied('Copy as Shown'), /text of c/);
  const messages = JSON.parse(await copied('Copy as Messages'));
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['system', 'user'],
  );
});

test('a folded parent costs what it hides, however narrow the panel is', async () => {
  await page.setViewportSize({ width: 360, height: 400 });
  await show([
    block('a', { tokens: { self: 5, subtree: 35, if_opened: null } }),
    block('a/b', { depth: 1, tokens: { self: 30, subtree: 30, if_opened: null } }),
  ]);
  const cost = () => page.locator('[data-id="a"] .cost:visible').allInnerTexts();
  assert.deepEqual(await cost(), ['5 tokens']);
  await menu(page, 'Fold All');
  assert.deepEqual(await cost(), ['35 in all']);
});

test('the section of the cursor is marked, and brought into view where that is asked', async () => {
  const long = (id) => block(id, { text: `${id}\n\n`.repeat(40) });
  await show([long('a'), block('a/b', { depth: 1 }), long('c')]);
  const marked = () =>
    page
      .locator('[aria-current]')
      .evaluateAll((sections) => sections.map((section) => section.dataset.id));
  await post({ type: 'mark', key: 'c', reveal: false });
  assert.deepEqual(await marked(), ['c']);
  assert.equal(await page.evaluate(() => scrollY), 0);
  await post({ type: 'mark', key: 'a.b.hidden', reveal: true });
  assert.deepEqual(await marked(), ['a/b'], 'the nearest one that is shown');
  const { top } = await page
    .locator('[data-id="a/b"]')
    .evaluate((made) => made.getBoundingClientRect());
  assert.ok(top > 0 && top < 400, `it is at ${top}`);
  await update(['a', 'c'], []);
  assert.deepEqual(await marked(), ['a']);
  await post({ type: 'mark', key: null, reveal: true });
  assert.deepEqual(await marked(), []);
  assert.deepEqual(await told('scrolled'), [], 'nobody scrolled');
});

test('the page scrolls to a place, and tells the place that the user scrolled to', async () => {
  const long = (id) => block(id, { text: `${id}\n\n`.repeat(40) });
  await show([long('a'), long('b'), long('c')]);
  await post({ type: 'scroll', place: { key: 'b', share: 0.5 } });
  const share = await page.locator('[data-id="b"]').evaluate((made) => {
    const { top, height } = made.getBoundingClientRect();
    return (document.querySelector('header').getBoundingClientRect().bottom - top) / height;
  });
  assert.ok(Math.abs(share - 0.5) < 0.01, `${share} of it is above`);
  await page.mouse.move(300, 300);
  await page.mouse.wheel(0, -100_000);
  await page.waitForFunction(() => window.sent.some(({ type }) => type === 'scrolled'));
  assert.deepEqual((await told('scrolled')).at(-1).place, { key: 'a', share: 0 });
  assert.equal(
    (await told('scrolled')).some(({ place }) => place.key === 'c'),
    false,
  );
});

test('the page tells which section the pointer or the focus is on', async () => {
  await show([block('a'), block('b')]);
  await page.locator('[data-id="b"] .title').hover();
  await page.locator('h1').hover();
  await page.getByRole('button', { name: '1 a' }).focus();
  const keys = (await told('pointed')).map(({ key }) => key);
  assert.deepEqual(keys, ['b', null, 'a']);
});

test('where the budget ends has a mark on the strip, once the text goes beyond it', async () => {
  const blocks = [block('a', { tokens: { self: 100, subtree: 100, if_opened: null } })];
  const tokens = { ...ALL, text: 100, total: 100 };
  const words = '100 of 40 tokens (60 over)';
  const budget = { limit: 40, unit: 'tokens', used: 100, over: 60, words };
  await show(blocks, { tokens, budget });
  await details();
  const [mark, strip] = await Promise.all([
    page.locator('.strip .limit').boundingBox(),
    page.locator('.strip').boundingBox(),
  ]);
  assert.ok(Math.abs((mark.x + 1 - strip.x) / strip.width - 0.4) < 0.01);
  assert.match(await page.locator('.strip .limit').getAttribute('title'), /ends here: 40 tokens/);
  assert.equal(await number().innerText(), words);
  assert.equal(await number().getAttribute('class'), 'amount over');
  await show(blocks, { tokens, budget: { ...budget, limit: 200, over: 0 } });
  assert.equal(await page.locator('.strip .limit').count(), 0);
});

test('the page works under the policy that the panel sets', async () => {
  await show([block('a', { text: '| x |\n|:-:|\n| 1 |' }), block('a/b', { depth: 1 })]);
  const indent = await page
    .locator('.block')
    .last()
    .evaluate((made) => getComputedStyle(made).marginInlineStart);
  assert.notEqual(indent, '0px');
  const violations = await page.evaluate(() => window.violations);
  assert.deepEqual(violations, []);
});

/** A prompt with everything that a header can have, at its second step. */
const FULL = {
  ...{ steps: 2, parameter_sets: [{ name: 'a_set_with_a_long_name' }], generated: [] },
  ...{ parameter_set: 'a_set_with_a_long_name', params: {}, name: 'a_prompt_with_a_long_name' },
  chapters: [{ key: 'k', title: 'K', open: true, may_open: true, reasons: [], description: null }],
  tokens: { ...ALL, text: 4_000, tools: 255, total: 4_255, words: ['4,255 tokens', 'Tools: 255'] },
  budget: {
    ...{ limit: 3_000, unit: 'tokens', used: 4_255, over: 1_255 },
    words: '4,255 of 3,000 tokens (1,255 over)',
  },
};

for (const width of [270, 390, 700, 1280]) {
  test(`at ${width} px at most eight controls and numbers come before the prompt`, async () => {
    await page.setViewportSize({ width, height: 600 });
    const blocks = [block('a', { title: 'Rules' }), block('b')];
    await show(blocks, { ...FULL, steps: 1 });
    const before = await aheadOf('Rules');
    assert.deepEqual(before, [
      'a_prompt_with_a_long_name',
      'Parameter set',
      '4,255 of 3,000 tokens (1,255 over)',
      'More',
      '1',
    ]);
    const line = await page.locator('header').evaluate(({ clientHeight }) => clientHeight);
    assert.ok(line < 48, `the header is one line, not ${line} px`);
    await show(blocks, { ...FULL, fidelity: 'static', notice: null });
    const all = await aheadOf('Rules');
    assert.ok(all.length <= 8, all.join(', '));
    for (const more of ['Source only', 'Undo', 'Reset']) {
      assert.ok(all.includes(more), `${more} in ${all.join(', ')}`);
    }
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
  });
}

test('the keyboard reaches the header, what is behind the number, and the menu', async () => {
  await show([block('a')], FULL);
  const focused = () =>
    page.evaluate(
      () => document.activeElement.ariaLabel ?? document.activeElement.textContent.trim(),
    );
  const reached = [];
  for (let step = 0; step < 6; step++) {
    await page.keyboard.press('Tab');
    reached.push(await focused());
  }
  assert.deepEqual(reached, [
    ...['Parameter set', '4,255 of 3,000 tokens (1,255 over)', 'Undo', 'Reset', 'More', '1a'],
  ]);
  await number().focus();
  await page.keyboard.press('Enter');
  for (let step = 0; step < 4; step++) {
    await page.keyboard.press('Tab');
  }
  assert.equal(await focused(), 'Prompt');
  await page.keyboard.press('Escape');
  assert.equal(await focused(), '4,255 of 3,000 tokens (1,255 over)');
  assert.equal(await page.getByRole('tab').count(), 0);
  await page.locator('.menu > summary').press('Enter');
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'Values');
  await page.keyboard.press('Enter');
  assert.equal(await focused(), 'Values', 'the drawer has the focus');
  assert.equal(await page.locator('.menu .group').first().isVisible(), false);
  await page.keyboard.press('Escape');
  assert.equal(await focused(), 'More');
});

test('a section that failed is announced in the header, which leads to it', async () => {
  const long = 'word '.repeat(3000);
  await show([block('a', { text: long }), block('b', { error: { message: 'KeyError' } })]);
  await page.getByRole('button', { name: '1 failed' }).click();
  assert.ok(await page.evaluate(() => scrollY > 1000), 'the page scrolled to it');
  await show([block('a')]);
  assert.equal(await page.getByRole('button', { name: '1 failed' }).isVisible(), false);
});

test('the strip is as long as the whole request', async () => {
  await show([block('a'), block('b')], {
    tokens: { ...ALL, text: 20, tools: 60, output: 20, total: 100 },
  });
  await details();
  const beside = page.locator('.strip > .beside');
  assert.deepEqual(await beside.evaluateAll((made) => made.map(({ title }) => title)), [
    'Tools: 60 tokens, 60%',
    'Output schema: 20 tokens, 20%',
  ]);
  assert.ok((await page.locator('.legend li').allInnerTexts()).includes('tools, output schema'));
});

test('a badge says only that the text was not run, or is an earlier one', async () => {
  const badge = page.locator('.fidelity');
  await show([block('a')]);
  assert.equal(await badge.isVisible(), false);
  await show([block('a')], { fidelity: 'static' });
  assert.equal(await badge.innerText(), 'Source only');
  const notice = { kind: 'stale', text: 'Line 3: invalid syntax.', actions: [] };
  await show([block('a')], { notice });
  assert.equal(await badge.innerText(), 'Last good');
  await show([], { notice });
  assert.equal(await badge.isVisible(), false, 'there is no text');
});

test('the strip has a legend of what it shows, and an edit turns no color of alarm on', async () => {
  const blocks = [block('a'), block('b', { visibility: 'SUMMARY' })];
  const kept = { characters: 0, tools: true, cached: 0, words: 'Too short to cache' };
  await show(blocks, { tokens: { ...ALL, text: 20, total: 20 } });
  await details();
  const legend = () => page.locator('.legend li').allInnerTexts();
  assert.deepEqual(await legend(), ['sent in full', 'summarized']);
  await update(['a', 'b'], [], { tokens: { ...ALL, text: 20, total: 20 }, kept });
  assert.deepEqual(await legend(), ['sent in full', 'summarized'], 'nothing was cached before');
  const shown = page.locator('#details');
  assert.doesNotMatch(await shown.innerText(), /Too short to cache/, 'the request before');
  const words = '10 tokens reusable';
  const some = { ...kept, words, cached: 10, characters: blocks[0].text.length };
  await update(['a', 'b'], [], { tokens: { ...ALL, text: 20, total: 20 }, kept: some });
  assert.deepEqual(await legend(), ['reusable from cache', 'read anew', 'summarized']);
  assert.match(await shown.innerText(), /After the last change: 10 tokens reusable/);
});

test('Costs lists every section, with bars as long as the largest, and leads to each', async () => {
  await page.setViewportSize({ width: 390, height: 600 });
  const blocks = Array.from({ length: 64 }, (_, at) =>
    block(`s${at}`, {
      ...{ title: `A section with a long title, number ${at}`, text: 'word '.repeat(60) },
      tokens: { self: at + 1, subtree: at + 1, if_opened: null },
    }),
  );
  await show(blocks, { tokens: { ...ALL, text: 2_080, tools: 32, total: 2_112 } });
  await details();
  await page.getByRole('tab', { name: 'Costs' }).click();
  const bars = () =>
    page.locator('.bar-of').evaluateAll((made) => made.map(({ clientWidth }) => clientWidth));
  const [first, second] = await bars();
  assert.ok(first > 300, `the largest has ${first} px`);
  assert.ok(Math.abs(second / first - 63 / 64) < 0.01);
  assert.match(await page.locator('.shares li').first().innerText(), /number 63\s*64 · 3%/);
  await page.getByText('53 more').click();
  assert.equal(await page.locator('.shares li:visible').count(), 65, 'the tools, too');
  const heights = await page
    .locator('.shares li')
    .evaluateAll((made) => made.map(({ clientHeight }) => clientHeight));
  assert.ok(Math.max(...heights) < 48, `a row has ${Math.max(...heights)} px`);
  await update(
    blocks.map(({ id }) => id),
    [],
    { tokens: { ...ALL, text: 2_080, tools: 32, total: 2_112 } },
  );
  assert.equal(await page.locator('.shares li:visible').count(), 65, 'the list stays open');
  await page.getByRole('button', { name: 'number 40' }).click();
  const place = await page
    .locator('[data-id="s40"]')
    .evaluate((made) => made.getBoundingClientRect().top);
  assert.ok(place >= 0 && place < 600, `the section is at ${place}`);
});

test('the exact text has each heading once', async () => {
  await show([block('a', { title: 'Rules' }), block('b')]);
  await menu(page, 'Show Exact Text');
  const title = page.locator('[data-id="a"] .title');
  assert.ok((await title.boundingBox()).width <= 1, 'the title is for screen readers alone');
  await page.locator('[data-id="a"] .fold').click();
  assert.ok((await title.boundingBox()).width > 20, 'a folded section has its title alone');
});

/** What stands before the title of a section, by its name or its words: controls and numbers. */
function aheadOf(title) {
  return page.evaluate((wanted) => {
    const titles = [...document.querySelectorAll('.title')];
    const end = titles.find(({ textContent }) => textContent === wanted);
    const found = [];
    const seen = (element) => element.checkVisibility() && element.getClientRects().length > 0;
    const walk = document.createTreeWalker(document.body);
    const words = 'button, select, input, textarea, summary, a, [role=tab], [tabindex="0"]';
    for (let node = walk.nextNode(); node !== null && node !== end; node = walk.nextNode()) {
      const parent = node.parentElement;
      if (node instanceof Element) {
        if (node.matches(words) && seen(node) && !node.contains(end)) {
          found.push(node.ariaLabel ?? node.textContent);
        }
      } else if (seen(parent) && node.data.trim() !== '' && !parent.closest('script, style')) {
        const control = parent.closest(words);
        if (control === null || control.contains(end)) {
          found.push(node.data.trim());
        }
      }
    }
    return found;
  }, title);
}

const RICH = [
  'Alpha **bravo** and *charlie*, `delta echo` \u{1f600} foxtrot \\*golf\\*',
  'hotel [india](https://example.com/ "juliet") kilo',
  '',
  '1. 1 lima',
  '   - mike',
  '     november',
  '',
  '> # oscar',
  '> papa',
  '',
  '| quebec | romeo |',
  '|--------|------:|',
  '| sierra | `x` \\| tango |',
  '',
  '```python',
  'uniform = 1',
  '',
  '    victor = 2',
  '```',
  '',
  '    whiskey',
  '',
  'xray',
  '===',
  'yankee and zulu',
].join('\r\n');

test('a click with Ctrl on a word asks for the place of its character, in Markdown and as text', async () => {
  const segments = [
    { kind: 'heading', text: '## 1. Title' },
    { kind: 'separator', text: '\n\n' },
    { kind: 'literal', text: RICH.slice(0, RICH.indexOf('lima')) },
    { kind: 'param', text: 'lima', field: 'name' },
    { kind: 'literal', text: RICH.slice(RICH.indexOf('lima') + 4) },
    { kind: 'suffix', text: '\n\n---\nUnfold with `yodel`.' },
  ];
  const shown = block('a', { title: 'Title', segments, key: 'p.a' });
  await show([shown]);
  const words = [...RICH.match(/[a-z]{4,}/gi), 'Unfold', 'yodel', 'Title'].filter(
    (word) => !['https', 'example', 'juliet', 'python'].includes(word),
  );
  for (const mode of ['Markdown', 'Text']) {
    for (const [index, action] of (await traceWords(words)).entries()) {
      const { key, offset } = action;
      assert.deepEqual([action.action, key, action.place], ['goToOrigin', 'p.a', 0]);
      assert.equal(shown.text.slice(offset).startsWith(words[index]), true, words[index]);
    }
    assert.equal(await page.locator('.body').isVisible(), true, 'a title was not folded');
    const parts = ['bravo', 'victor = 2', 'sierra | `x` \\| ta'].map((text) => {
      const start = shown.text.indexOf(text);
      return { id: 'a', start, end: start + text.length };
    });
    await post({ type: 'characters', parts, reveal: false });
    const whole = mode === 'Text' ? ['sierra | `x` \\| ta'] : ['sierra', 'x', ' | ta'];
    assert.deepEqual(await marked(), ['bravo', 'victor = 2', ...whole]);
    if (mode === 'Markdown') {
      await menu(page, 'Show Exact Text');
    }
  }
});

test('what is marked stays marked when the text changes, and comes into view where it has to', async () => {
  const long = 'word '.repeat(3000);
  await show([block('a', { text: long }), block('b', { text: 'Here it is.' })]);
  const start = '## 2. b\n\nHere '.length;
  await post({ type: 'characters', parts: [{ id: 'b', start, end: start + 2 }], reveal: true });
  assert.deepEqual(await marked(), ['it']);
  assert.ok(await page.evaluate(() => scrollY > 1000), 'the page scrolled to it');
  await update(['a', 'b'], [block('a', { text: `${long}more` })]);
  assert.deepEqual(await marked(), ['it']);
});

test('a value says its other places, and a press on one goes there', async () => {
  await show([block('a', { text: 'Hello Ada' })]);
  await traceWords(['Ada']);
  const places = ['placeholder ${name}, p.py:3:9', 'field Who.name, p.py:1:2'].map((what) => ({
    ...{ what, uri: 'file:///p.py', line: 3, column: 9, location: null },
    excerpt: ['', '', ''],
  }));
  await answer({ words: '', exact: true, places });
  await page.getByRole('button', { name: 'field Who.name' }).click();
  assert.equal((await actions()).at(-1).place, 1);
  await answer({ words: '', exact: false, places: places.slice(1) });
  await page.getByText('Not known exactly').waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.from').isVisible(), false);
});

/** Clicks with Ctrl on the first character of each word, and returns the offsets that were told. */
async function traceWords(words) {
  const offsets = [];
  for (const word of words) {
    const { x, y } = await page.evaluate((wanted) => {
      const nodes = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
      for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
        const at = node.nodeValue.search(new RegExp(`(?<!\\w)${wanted}`));
        // In the exact text, a title for screen readers takes one pixel.
        if (at >= 0 && node.parentElement.offsetWidth > 1) {
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          scrollBy(0, range.getBoundingClientRect().top - innerHeight / 2);
          const { left, top, width, height } = range.getBoundingClientRect();
          return { x: left + width / 3, y: top + height / 2 };
        }
      }
      throw new Error(`${wanted} is not shown`);
    }, word);
    await page.keyboard.down('Control');
    await page.mouse.move(x, y);
    await page.mouse.click(x, y);
    await page.keyboard.up('Control');
    offsets.push((await actions()).at(-1));
  }
  return offsets;
}

/** The texts that are marked. */
function marked(name = 'foldline-mark') {
  return page.evaluate((wanted) => [...(CSS.highlights.get(wanted) ?? [])].map(String), name);
}

test('Read is seen to be open, rendered, and said not to be part of the prompt', async () => {
  await show([block('a', { visibility: 'SUMMARY', title: 'Docs' })]);
  const read = page.getByRole('button', { name: 'Read 1 Docs' });
  const border = () => read.evaluate((made) => getComputedStyle(made).borderColor);
  const closed = await border();
  await read.click();
  await answer({ text: '## 1. Docs\n\nAll of **it**.\n' });
  const shown = page.getByRole('group', { name: 'The whole section' });
  assert.equal(await shown.locator('strong').innerText(), 'it');
  assert.match(await shown.innerText(), /isn’t part of the prompt/);
  assert.equal(await shown.getByRole('heading').count(), 0, 'its heading stands above');
  assert.equal(await read.getAttribute('aria-expanded'), 'true');
  assert.notEqual(await border(), closed);
  await read.click();
  assert.equal(await shown.count(), 0);
});

test('the keys of a section work from its buttons, too', async () => {
  await show([
    block('a', { visibility: 'SUMMARY' }),
    block('b', { visibility: 'SUMMARY' }),
    block('c'),
  ]);
  await page.getByRole('button', { name: 'Read 1 a' }).focus();
  await page.keyboard.press('o');
  assert.deepEqual(await actions(), [{ action: 'openSections', key: 'a' }]);
  await page.getByRole('button', { name: 'Reason for opening 1 a' }).focus();
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.evaluate(() => document.activeElement.textContent.trim()), '2b');
  await page.getByRole('button', { name: 'Reason for opening 2 b' }).click();
  await page.keyboard.type('o');
  assert.equal((await actions()).length, 1, 'what is typed is a reason');
});

test('at half a window Read and Open share a line, and a notice or Undo moves no text', async () => {
  await page.setViewportSize({ width: 500, height: 400 });
  const opening = { total: 1_269, text: 1_069, tools: 200 };
  const tokens = { self: 5, subtree: 35, if_opened: opening };
  const title = 'Reference Documentation';
  const blocks = [block('a', { visibility: 'SUMMARY', title, tokens }), block('b')];
  await show(blocks, FULL);
  const top = (name) =>
    page.getByRole('button', { name }).evaluate((made) => made.getBoundingClientRect().top);
  assert.equal(await top(`Read 1 ${title}`), await top(`Open 1 ${title}`));
  const before = await top('2 b');
  const text = 'Line 3: invalid syntax.\n'.repeat(4);
  await show(blocks, { ...FULL, steps: 3, notice: { kind: 'stale', text, actions: [] } });
  assert.equal(await page.locator('.notice.stale').isVisible(), true);
  assert.equal(await page.getByRole('button', { name: 'Undo' }).isVisible(), true);
  assert.equal(await top('2 b'), before);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 500);
});

test('equal texts are said to be equal', async () => {
  await show([block('a')], { steps: 1, parameter_set: 'ada' });
  await menu(page, 'Compare');
  await page.getByText('set ada, sections').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Previous Step' }).isVisible(), false);
  await page.getByRole('button', { name: 'HEAD' }).click();
  await answer('HEAD and now are the same text.');
  await page.getByText('HEAD and now are the same text.').waitFor();
});

async function openPage(state) {
  // The policy is the panel's own, with this page in place of the editor's resources.
  const policy = "default-src 'none'; style-src 'nonce-style'; script-src 'nonce-script'";
  await page.setContent(`<!DOCTYPE html>
    <html><head><meta http-equiv="Content-Security-Policy" content="${policy}">
    <style id="sheet" nonce="style">${STYLE}</style></head><body>
    <script nonce="script">
      window.violations = [];
      addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
      window.sent = [];
      window.state = ${JSON.stringify(state ?? null)} ?? undefined;
      window.acquireVsCodeApi = () => ({
        postMessage: (message) => window.sent.push(message),
        getState: () => window.state,
        setState: (state) => { window.state = state; },
      });
    </script>
    <script nonce="script">${SCRIPT.replaceAll('</script', '<\\/script')}</script></body></html>`);
}

function block(id, { text = `text of ${id}`, title = id, segments, ...rest } = {}) {
  const path = id.split('/');
  const number = String(id.charCodeAt(0) - 96);
  const parts = segments ?? [
    { kind: 'heading', text: `## ${number}. ${title}` },
    { kind: 'separator', text: '\n\n' },
    { kind: 'literal', text },
    { kind: 'separator', text: '\n\n' },
  ];
  return {
    ...{ id, path, key: path.join('.'), number, title, depth: 0, visibility: 'FULL' },
    ...{ enabled: true, opened: false, location: null, segments: parts },
    text: parts.map((part) => part.text).join(''),
    ...rest,
  };
}

function tool(name, description) {
  return { name, description, parameters: {}, schema: {} };
}

/** The number in the bar. */
function number() {
  return page.locator('#more-button');
}

/** Shows what is behind the number. */
function details() {
  return number().click();
}

function show(blocks, rest = {}) {
  return update(
    blocks.map(({ id }) => id),
    blocks,
    { whole: true, ...rest },
  );
}

function update(order, blocks, rest = {}) {
  const view = {
    ...{
      name: 'p',
      uri: 'file:///p.py',
      fidelity: 'executed',
      tools: [],
      notice: null,
      whole: false,
    },
    ...{ tokens: null, kept: null, cache: null },
  };
  return post({ type: 'view', view: { ...view, order, blocks, ...rest } });
}

function post(message) {
  return page.evaluate((data) => dispatchEvent(new MessageEvent('message', { data })), message);
}

/** What the page asked for, each by its action. */
function actions() {
  return page.evaluate(() =>
    window.sent.filter(({ type }) => type === 'request').map(({ action }) => action),
  );
}

function lastRequest() {
  return page.evaluate(() => window.sent.filter(({ type }) => type === 'request').at(-1).id);
}

/** What the page told of this kind. */
function told(kind) {
  return page.evaluate((wanted) => window.sent.filter(({ type }) => type === wanted), kind);
}

/** Answers what was asked for last. */
async function answer(value) {
  const id = await lastRequest();
  await post({ type: 'response', id, value });
}

/** Refuses what was asked for last. */
async function refuse(reason) {
  const id = await lastRequest();
  await post({ type: 'refusal', id, reason });
}

function visibleIds() {
  return page
    .locator('.block:visible')
    .evaluateAll((sections) => sections.map((section) => section.dataset.id));
}
