// `foldline preview --serve` as a person uses it: a real server, real files, a real browser.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';

import { ACME } from './acme.mjs';
import { assertAccessible } from './axe.mjs';
import {
  ROOT,
  SCREENSHOTS,
  launchBrowser,
  markedIn,
  menu,
  openTab,
  positionOf,
  traceWord,
  until,
} from './workbench.mjs';

const PROMPT = `
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility
from texts import LAST

first = MarkdownSection[None](title="First", key="first", template="One.")
middle = MarkdownSection[None](
    title="Middle", key="middle", template="word " * 2000, summary="Long.",
    visibility=SectionVisibility.SUMMARY,
)
last = MarkdownSection[None](title="Last", key="last", template=LAST)
prompt = PromptTemplate(ns="demo", key="demo", sections=[first, middle, last])
`;
const SETS = `
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate

@dataclass(frozen=True)
class Who:
    name: str

name = MarkdownSection[Who](title="Name", key="name", template="You help \${name}.")
more = MarkdownSection[Who](title="More", key="more", template="More of it.",
    enabled=lambda who: who.name != "Ada")
rules = MarkdownSection[None](title="Rules", key="rules", template="Be kind.")
prompt = PromptTemplate(ns="demo", key="demo", sections=[name, rules, more])

def preview_ada():
    return Who("Ada")

def preview_bob():
    return Who("Bob")

def preview_eve():
    return Who("Eve")
`;
const TEXTS = 'LAST = "Three. " * 500\n';

let browser;
const ends = [];

before(async () => {
  // A name that some other page controls may well resolve to this machine.
  browser = await launchBrowser('--host-resolver-rules=MAP rebound.example 127.0.0.1');
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) {
    await end();
  }
});

after(() => browser?.close());

test('sections open and close, and what that costs is shown', async () => {
  const { page } = await open({
    folder: join(ROOT, 'examples/code_reviewer'),
    file: 'reviewer_prompt.py',
  });
  assert.equal(await page.locator('.fidelity').isVisible(), false);
  const docs = page.locator('[data-id="reference-docs"]');
  assert.match(await docs.locator('.costs').innerText(), /^\d+ tokens\s*[+−]\d+ if opened/);
  const before = await total(page);
  await screenshot(page, 'folded');
  await page.getByRole('button', { name: 'Open 2 Reference Documentation' }).click();
  await page.getByRole('button', { name: 'Close 2 Reference Documentation' }).waitFor();
  assert.match(await docs.locator('.costs').innerText(), /^\d+ tokens\s*\d+ in all$/);
  assert.notEqual(await total(page), before);
  await details(page);
  // Nothing was cached before, so that nothing is said of it.
  assert.match(
    await page.locator('.words').innerText(),
    /^Text: .*\nTools: .*\nOutput schema: .*$/,
  );
  assert.equal(await page.locator('.strip .beside').count(), 2);
  assert.equal(await page.locator('.strip .piece').count(), 10);
  await screenshot(page, 'opened');
  await page.emulateMedia({ colorScheme: 'dark' });
  await screenshot(page, 'dark');
  await page.getByRole('button', { name: 'Close 2 Reference Documentation' }).click();
  await page.getByRole('button', { name: 'Open 2 Reference Documentation' }).waitFor();
  assert.equal(await total(page), before);
});

test('parts show their roles, and the plan what a cache can keep', async () => {
  const { page } = await open({
    folder: join(ROOT, 'examples/prompts'),
    file: 'support_bot.py',
  });
  const roles = await page.locator('.role:visible').allInnerTexts();
  assert.deepEqual(roles, ['system message', 'user message']);
  await details(page);
  await page.getByRole('tab', { name: 'Costs' }).click();
  const plan = await page.locator('.stages').innerText();
  assert.match(plan, /Changes with each request, by turns/);
  assert.match(
    await page.getByRole('tabpanel').innerText(),
    /Too short to cache \([\d,]+ of at least 1,024 tokens\)/,
  );
  await screenshot(page, 'plan');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 480, height: 700 });
  await screenshot(page, 'plan-narrow');
});

test('other values are chosen, and steps are taken back', async () => {
  const sets = ['ada', 'bob'].map((name) => `def preview_${name}():\n    return Who("${name}")\n`);
  const { page } = await open({
    files: {
      'prompt.py': [
        'from dataclasses import dataclass',
        'from foldline.prompts import MarkdownSection, PromptTemplate',
        '@dataclass(frozen=True)\nclass Who:\n    name: str\n',
        'first = MarkdownSection[Who](title="First", key="first", template="I am ${name}.")',
        'prompt = PromptTemplate(ns="demo", key="demo", sections=[first])\n',
        ...sets,
      ].join('\n'),
    },
  });
  const chosen = page.getByRole('combobox', { name: 'Parameter set' });
  assert.equal(await chosen.inputValue(), 'ada');
  assert.equal(await text(page, 'first'), 'I am ada.');
  assert.equal(await page.getByRole('button', { name: 'Undo' }).isVisible(), false);
  await chosen.selectOption('bob');
  await page.getByText('I am bob.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('I am ada.').waitFor();
  assert.equal(await chosen.inputValue(), 'ada');
});

test('all sets are a table by section, and cells show how their texts differ', async () => {
  const { page } = await open({ files: { 'prompt.py': SETS } });
  await openTab(page, 'Sets 3');
  const table = page.getByRole('region', { name: 'All sets' });
  await table.waitFor();
  const rows = await table.getByRole('row').allInnerTexts();
  assert.match(rows[0], /^Section\s+ada\s+bob\s+eve$/);
  assert.match(rows.at(-1), /^Total\s+\d+\s+\d+\s+\d+$/);
  const cell = (name) => page.getByRole('button', { name });
  await cell(/^More, ada: off$/).click();
  await page.getByText('Press another cell of the row').waitFor();
  await cell(/^More, bob: \d+, not as in ada$/).click();
  await page.locator('.diff').getByText('+More of it.').waitFor();
  assert.match(await page.locator('.matrix').innerText(), /ada → bob/);
  // A third one begins anew: with the first set.
  await cell(/^Name, eve: \d+, not as in ada$/).click();
  await page.locator('.diff').getByText('-You help Ada.').waitFor();
  await cell(/^Name, bob: /).click();
  await page.locator('.diff').getByText('-You help Eve.').waitFor();
  await cell(/^Total, bob: /).click();
  await page
    .locator('.diff')
    .getByText(/ada → bob: \+\d+ tokens/)
    .waitFor();
  await page.getByLabel('Only what differs').check();
  assert.equal(await page.getByRole('row', { name: /^Rules/ }).count(), 0);
  for (const [width, colorScheme] of [
    [1000, 'light'],
    [390, 'dark'],
  ]) {
    await page.setViewportSize({ width, height: 640 });
    await page.emulateMedia({ colorScheme });
    await assertAccessible(page, `sets, ${width}, ${colorScheme}`);
    await screenshot(page, `sets-${width}-${colorScheme}`);
  }
});

test('the table says that the preview has changed, and is made anew', async () => {
  const { page, folder } = await open({ files: { 'prompt.py': SETS } });
  await openTab(page, 'Sets 3');
  await page.getByRole('button', { name: /^Rules, ada: / }).waitFor();
  const text = SETS.replace('Be kind.', 'Be kind, ${name}.').replace(
    'Section[None]',
    'Section[Who]',
  );
  writeFileSync(join(folder, 'prompt.py'), `${text}\ndef preview_bad():\n    return Who(1 / 0)\n`);
  await page.getByText('The preview has changed since.').waitFor();
  await page.getByRole('button', { name: 'Evaluate Again' }).click();
  await page.getByRole('button', { name: /^Rules, eve: \d+, not as in ada/ }).waitFor();
  await page.getByText(/bad: prompt\.py:\d+: ZeroDivisionError/).waitFor();
  assert.equal(await page.getByText('The preview has changed since.').isVisible(), false);
});

test('a click with Ctrl on a word shows its source, whose characters lead back', async () => {
  const module = `
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate
from texts import LAST

@dataclass(frozen=True)
class Who:
    name: str = "Ada"

last = MarkdownSection[Who](title="Last", key="last", template=LAST)
prompt = PromptTemplate(ns="demo", key="demo", sections=[last])
`;
  const texts = 'LAST = """\\\n    Th\\u0072ee *words* for ${name},\n    and `more`.\n    """\n';
  const { page, folder } = await open({ files: { 'prompt.py': module, 'texts.py': texts } });
  const from = page.getByRole('region', { name: 'Source' });
  const place = from.locator('mark');
  await traceWord(page, 'ree');
  await from.getByText('template of last, texts.py:2:7').waitFor();
  assert.equal(await place.innerText(), '\\u0072');
  await until('the mark', async () => (await markedIn(page)) === 'r');
  // What the pointer is on in the source is marked in the page.
  await from.locator('pre').hover({ position: await positionOf(from.locator('pre'), 'words') });
  await until('the way back', async () => (await markedIn(page)) === 'w');
  await screenshot(page, 'trace');
  await traceWord(page, 'Ada');
  await from.getByRole('button', { name: 'placeholder ${name}, texts.py:2:28' }).waitFor();
  assert.equal(await place.innerText(), '${name}');
  await until('the value', async () => (await markedIn(page)) === 'Ada');
  await from.getByRole('button', { name: 'field Who.name' }).click();
  await until('the field', async () => (await place.innerText()) === 'name');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 700 });
  await screenshot(page, 'trace-narrow');
  await assertAccessible(page);
  // The page follows the files as they are saved.
  writeFileSync(join(folder, 'texts.py'), texts.replace('and', '\u{1f600} and'));
  await page.getByText('\u{1f600} and').waitFor();
  await traceWord(page, 'more');
  await from.getByText('texts.py:3:12').waitFor();
  assert.equal(await place.innerText(), 'm');
  await page.keyboard.press('Escape');
  await from.waitFor({ state: 'hidden' });
  assert.equal(await markedIn(page), '');
});

test('a section that fails is an error among the others', async () => {
  const { page } = await open({
    files: {
      'prompt.py': PROMPT.replace('template="One."', 'template="One.", enabled=lambda: 1 / 0'),
    },
  });
  assert.match(await page.getByRole('alert').innerText(), /division by zero/);
  assert.match(await text(page, 'last'), /^Three\./);
  await screenshot(page, 'error');
});

test('what is broken from the start is shown by its source, and runs once it is mended', async () => {
  const { page, folder } = await open({
    files: { 'prompt.py': `${PROMPT}\nraise RuntimeError("not yet")` },
  });
  assert.equal(await page.locator('.fidelity').innerText(), 'Source only');
  assert.match(
    await page.getByRole('status').innerText(),
    /Showing the source, not executed\..*not yet/s,
  );
  assert.equal(await text(page, 'first'), 'One.');
  writeFileSync(join(folder, 'prompt.py'), PROMPT);
  await page.getByRole('status').waitFor({ state: 'hidden' });
  assert.equal(await page.locator('.fidelity').isVisible(), false);
});

test('the controls of the page do what those of the panel do', async () => {
  const { page } = await open({
    files: { 'prompt.py': ACME['prompts/triage.py'] },
  });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const press = (name) => page.getByRole('button', { name, exact: true }).click();
  await menu(page, 'Values');
  await page.getByLabel('seats', { exact: true }).fill('0');
  await page.keyboard.press('Tab');
  await page.getByText('at least one seat').waitFor();
  await page.getByLabel('seats', { exact: true }).fill('7');
  await page.keyboard.press('Tab');
  await page.getByText('7 seats').waitFor();
  await page.getByLabel('Render once').check();
  await page.getByLabel('name', { exact: true }).fill('Eve');
  await page.keyboard.press('Tab');
  await page.locator('.once pre').getByText('Eve').waitFor();
  await menu(page, /^Chapters/);
  await page
    .getByText('Chapters: tone open, as evaluate sends them; closed: legal (its enabled')
    .waitFor();
  const tone = page.getByText('Be kind.', { exact: true });
  await tone.waitFor();
  await press('Close chapter Tone');
  await tone.waitFor({ state: 'detached' });
  await press('Read 4 Policies');
  await page.locator('.whole p').getByText('Refunds within 30 days').waitFor();
  await menu(page, /^History/);
  await page.getByText('Step 3 of 3: Closed tone').waitFor();
  await page.getByRole('slider', { name: 'Step' }).press('ArrowLeft');
  await page.locator('.diff .added').getByText('7 seats').waitFor();
  await press('Go Back to This Step');
  await tone.waitFor();
  await menu(page, 'Compare');
  await press('Previous Step');
  await page.locator('.compare .removed').getByText('1 seats').waitFor();
  await press('HEAD');
  await page.locator('.compare').getByRole('alert').waitFor();
  await menu(page, 'Copy Text');
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^## 1\. Task/);
});

test('the page works on a phone, in both themes, and for everybody', async () => {
  const { page } = await open({
    files: { 'prompt.py': ACME['prompts/triage.py'] },
  });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole('combobox', { name: 'Parameter set' }).selectOption('team_user');
  await page.getByText('Grace').waitFor();
  await menu(page, 'Values');
  const beyond = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  for (const theme of ['Light', 'Dark']) {
    await page.locator('.menu > summary').click();
    await page.getByRole('combobox', { name: 'Theme' }).selectOption(theme);
    await page.keyboard.press('Escape');
    await screenshot(page, `phone-${theme.toLowerCase()}`);
    assert.equal(await beyond(), 0);
    await assertAccessible(page, theme);
  }
  await page.reload();
  await page.getByText('Grace').waitFor();
  await page.locator('.menu > summary').click();
  assert.equal(await page.getByRole('combobox', { name: 'Theme' }).inputValue(), 'dark');
  assert.equal(await page.locator('h1').isVisible(), true);
});

test('the keyboard is enough', async () => {
  const { page } = await open();
  await page.getByRole('button', { name: '1 First' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('o');
  await page.getByRole('button', { name: 'Close 2 Middle' }).waitFor();
  await page.keyboard.press('c');
  await page.getByRole('button', { name: 'Open 2 Middle' }).waitFor();
});

test('an edit of the file, or of what it imports, arrives and the reader stays where they are', async () => {
  const { page, folder } = await open();
  await page.getByRole('button', { name: 'Open 2 Middle' }).click();
  await page.getByRole('button', { name: 'Close 2 Middle' }).waitFor();
  const last = page.locator('[data-id="last"]');
  await last.evaluate((section) => section.scrollIntoView());
  await page.evaluate(() => scrollBy(0, 90));
  const place = () => last.evaluate((section) => section.getBoundingClientRect().top);
  const before = await place();
  writeFileSync(join(folder, 'prompt.py'), PROMPT.replace('"One."', '"One. " * 900'));
  await until('the longer text', async () => (await text(page, 'first')).length > 900);
  assert.ok(Math.abs((await place()) - before) <= 1, `${before} became ${await place()}`);
  writeFileSync(join(folder, 'texts.py'), TEXTS.replace('Three', 'Seven'));
  await until('the text of the import', async () => (await text(page, 'last')).startsWith('Seven'));
  assert.ok(Math.abs((await place()) - before) <= 1, `${before} became ${await place()}`);
  assert.equal(await page.getByRole('button', { name: 'Close 2 Middle' }).count(), 1);
});

test('a broken file keeps the last good text below what is wrong, until it is mended', async () => {
  const { page, folder } = await open();
  writeFileSync(join(folder, 'prompt.py'), `${PROMPT}\nbroken = (`);
  const notice = page.getByRole('status');
  await notice.waitFor();
  assert.match(await notice.innerText(), /Showing the last version that rendered\. Line 13: /);
  assert.equal(await text(page, 'first'), 'One.');
  await screenshot(page, 'stale');
  writeFileSync(join(folder, 'prompt.py'), PROMPT);
  await notice.waitFor({ state: 'hidden' });
});

test('the reading view says its name, decodes nothing, and keeps the lines of a value', async () => {
  const ticket = '<ticket>\nIt says &lt;/ticket>\nand goes on\n</ticket>';
  const { page } = await open({ files: { 'texts.py': `LAST = ${JSON.stringify(ticket)}\n` } });
  assert.equal(await text(page, 'last'), '<ticket>\nIt says &lt;/ticket>\nand goes on\n</ticket>');
  await menu(page, 'Show Exact Text');
  await page.locator('.menu > summary').click();
  await page.getByRole('button', { name: 'Show Reading View' }).waitFor();
});

test('markup in a prompt stays text, and the page keeps to its policy', async () => {
  const evil =
    '<script>window.pwned = 1</script> <img src=x onerror="window.pwned = 1"> [run](javascript:window.pwned=1)';
  const { page } = await open({
    files: {
      'texts.py': `LAST = ${JSON.stringify(evil)}\n`,
      'prompt.py': PROMPT.replace('title="Last"', 'title="<b>Last</b>"'),
    },
  });
  assert.match(
    await text(page, 'last'),
    /^<script>window\.pwned = 1<\/script> <img src=x onerror=/,
  );
  assert.equal(await page.locator('main :is(a, b, img, script)').count(), 0);
  await menu(page, 'Show Exact Text');
  assert.equal(await page.locator('main :is(a, b, img, script)').count(), 0);
  assert.ok((await page.locator('[data-id="last"] pre').innerText()).includes(evil));
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  // What an injection would try, if there were one.
  const tried = await page.evaluate(async () => {
    try {
      document.body.insertAdjacentHTML('beforeend', '<p>made of a string</p>');
      return 'inserted';
    } catch (error) {
      return error.name;
    }
  });
  assert.equal(tried, 'TypeError');
});

test('the address works once, and the browser that used it may reload', async () => {
  const { page, url } = await open();
  assert.equal(page.url().includes('token'), false);
  await page.reload();
  await page.locator('[data-id="first"]').waitFor();
  await page.goto(url);
  await page.locator('[data-id="first"]').waitFor();
  const other = await newPage();
  assert.equal((await other.goto(url)).status(), 403);
  assert.equal((await other.goto(url.split('?')[0])).status(), 403);
  assert.equal(await page.evaluate(() => document.cookie), '');
});

test('a page of another origin gets nothing and does nothing', async () => {
  const { page, url } = await open();
  const [address] = url.split('?');
  // Same host, so that a browser calls it the same site and sends it what is meant for the host.
  const requests = [];
  const elsewhere = createServer((request, response) => {
    requests.push(request.headers);
    response.setHeader('Content-Type', 'text/html');
    response.end('<title>elsewhere</title>');
  });
  await new Promise((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  ends.push(() => elsewhere.close());
  const evil = await page.context().newPage();
  await evil.goto(`http://127.0.0.1:${elsewhere.address().port}/`);
  assert.equal(
    requests.every((headers) => headers.cookie === undefined),
    true,
  );
  const got = await evil.evaluate(async (target) => {
    const outcome = (promise) =>
      promise.then(
        () => 'done',
        () => 'refused',
      );
    const loaded = (element) =>
      new Promise((resolve) => {
        element.onload = () => resolve('done');
        element.onerror = () => resolve('refused');
        document.body.append(element);
      });
    const made = (tag, attributes) => Object.assign(document.createElement(tag), attributes);
    return {
      read: await outcome(fetch(target, { credentials: 'include' })),
      write: await outcome(
        fetch(`${target}actions`, {
          method: 'POST',
          credentials: 'include',
          headers: { 'Content-Type': 'application/json' },
          body: '{"action": "openSections", "key": "middle"}',
        }),
      ),
      script: await loaded(made('script', { src: `${target}page.js` })),
      events: await new Promise((resolve) => {
        const events = new EventSource(`${target}events`, { withCredentials: true });
        events.onmessage = () => resolve('done');
        events.onerror = () => resolve('refused');
      }),
    };
  }, address);
  assert.deepEqual(got, {
    read: 'refused',
    write: 'refused',
    script: 'refused',
    events: 'refused',
  });
  // A form sends without asking anybody first.
  await evil.evaluate((target) => {
    const form = Object.assign(document.createElement('form'), {
      method: 'POST',
      action: `${target}actions`,
    });
    document.body.append(form);
    form.submit();
  }, address);
  await evil.getByText('comes from another page').waitFor();
  const frame = await page.context().newPage();
  await frame.goto(`http://127.0.0.1:${elsewhere.address().port}/`);
  await frame.setContent(`<iframe src="${address}"></iframe>`);
  const framed = frame.frames()[1];
  assert.equal(await framed.locator('.block').count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Open 2 Middle' }).count(), 1);
});

test('a name that was made to resolve to this machine gets nothing', async () => {
  const { page, url } = await open();
  const rebound = await page.context().newPage();
  const answer = await rebound.goto(url.replace('127.0.0.1', 'rebound.example'));
  assert.equal(answer.status(), 421);
});

test('the page says when its server is gone', async () => {
  const { page, server } = await open();
  server.kill('SIGKILL');
  await page.getByText('does not respond').waitFor();
  assert.equal(await text(page, 'first'), 'One.');
});

/** Serves a prompt of a new folder and opens it in a new browser window. */
async function open({ folder: source, file = 'prompt.py', files } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'foldline-page-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  if (source) {
    cpSync(source, folder, { recursive: true });
  } else {
    for (const [name, content] of Object.entries({
      'prompt.py': PROMPT,
      'texts.py': TEXTS,
      ...files,
    })) {
      writeFileSync(join(folder, name), content);
    }
  }
  const server = spawn(process.env.PYTHON, ['-m', 'foldline.agent', 'preview', file, '--serve'], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  ends.push(async () => {
    server.stdin.end();
    await ended;
  });
  let said = '';
  server.stderr.on('data', (data) => (said += data));
  const url = await new Promise((resolve, reject) => {
    server.stdout.once('data', (data) => resolve(String(data).trim()));
    server.once('exit', () => reject(new Error(said)));
  });
  const page = await newPage();
  await page.goto(url);
  await page.locator('.block').first().waitFor();
  return { page, url, folder, server };
}

/** A page of a new browser, in which nothing may go wrong unseen. */
async function newPage() {
  const context = await browser.newContext({ viewport: { width: 1000, height: 640 } });
  ends.push(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  page.on('pageerror', (error) => assert.fail(error));
  return page;
}

/** Shows what is behind the number in the bar. */
function details(page) {
  return page.locator('#more-button').click();
}

async function total(page) {
  const words = await page.locator('#more-button').innerText();
  return Number(/^([\d,]+) tokens/.exec(words)[1].replaceAll(',', ''));
}

async function text(page, id) {
  return page.locator(`[data-id="${id}"] .body`).innerText();
}

async function screenshot(page, name) {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `browser-${name}.png`) });
}
