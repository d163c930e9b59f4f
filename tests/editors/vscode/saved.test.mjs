// `foldline preview --html` as a reviewer opens it: a file, a real browser, and no network.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { assertAccessible } from './axe.mjs';
import { SCREENSHOTS, launchBrowser, openTab } from './workbench.mjs';

const EVIL = [
  '</script><script>window.pwned = 1</script>',
  '<!-- <script>',
  '<img src="http://127.0.0.1:9/x.png" onerror="window.pwned = 1">',
  '<link rel="stylesheet" href="http://127.0.0.1:9/x.css">',
  '![image](http://127.0.0.1:9/y.png)',
  '[run](javascript:window.pwned=1)',
  '[data](data:text/html,<script>window.pwned=1</script>)',
  '<iframe src="http://127.0.0.1:9/"></iframe>',
  '\u2028\u2029</title></noscript></style>',
].join('\n\n');
const PROMPT = `
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

@dataclass(frozen=True)
class Customer:
    name: str
    seats: int

    def __post_init__(self):
        if self.seats < 1:
            raise ValueError("a customer has at least one seat")

greeting = MarkdownSection[Customer](
    title="<b>Greeting</b>", key="greeting", template="You help \${name}.")
refunds = MarkdownSection[Customer](
    title="Refunds", key="refunds", template="Within 30 days.", enabled=lambda one: one.seats > 1,
    children=[MarkdownSection[None](title="Deep", key="deep", template="Deep down.")])
rules = MarkdownSection[None](
    title="Rules", key="rules", template="All of them.", summary="In short.",
    visibility=SectionVisibility.SUMMARY)
evil = MarkdownSection[None](title="Evil", key="evil", template=${JSON.stringify(EVIL)})
fails = MarkdownSection[Customer](
    title="Fails", key="fails", template="\${name}", enabled=lambda one: 1 / (one.seats - 12) < 1)
prompt = PromptTemplate(
    ns="demo", key="demo", sections=[greeting, refunds, rules, evil, fails])

def preview_ada():
    return Customer("Ada", 1)

def preview_team():
    return Customer("Grace <i>Hopper</i>", 12)

def preview_broken():
    return Customer("Nobody", 0)
`;

const folder = mkdtempSync(join(tmpdir(), 'foldline-saved-'));
const file = join(folder, 'review.html');
let browser;
let page;
const requests = [];

before(async () => {
  writeFileSync(join(folder, 'prompt.py'), PROMPT);
  const command = ['-m', 'foldline.agent', 'preview', 'prompt.py', '--html', 'review.html'];
  try {
    execFileSync(process.env.PYTHON, command, { cwd: folder, stdio: 'pipe' });
    assert.fail('a set of it fails');
  } catch (error) {
    assert.equal(error.status, 1);
    assert.equal(String(error.stdout).trim(), 'review.html');
    assert.match(
      String(error.stderr),
      /broken: prompt\.py:12: ValueError: a customer has at least/,
    );
  }
  browser = await launchBrowser();
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    offline: true,
  });
  page = await context.newPage();
  page.on('pageerror', (error) => assert.fail(error));
  context.on('request', (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  await page.locator('.block').first().waitFor();
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the prompt is shown with its first set, and with another one', async () => {
  assert.equal(await page.title(), 'prompt · foldline');
  const sets = page.getByRole('combobox', { name: 'Parameter set' });
  assert.equal(await sets.inputValue(), 'ada');
  await page.getByText('You help Ada.').waitFor();
  assert.match(await page.locator('header').innerText(), /\d+ tokens/);
  await sets.selectOption('team');
  await page.getByText('You help Grace').waitFor();
  await page.getByText('Within 30 days.').waitFor();
  await sets.selectOption('broken');
  await page.getByText('prompt.py:12: ValueError: a customer has at least one seat').waitFor();
  assert.equal(await sets.inputValue(), 'team');
});

test('sections fold and unfold, and nothing offers what only a server can do', async () => {
  const fold = page.locator('[data-id="refunds"] .fold').first();
  await fold.click();
  await page.getByText('Deep down.').waitFor({ state: 'hidden' });
  await fold.click();
  await page.getByText('Deep down.').waitFor();
  const names = await page.getByRole('button').allInnerTexts();
  assert.deepEqual(
    names.filter((name) => /Open|Close|Read|Compare|Undo|Reset|↗/.test(name)),
    [],
  );
});

test('the values of the set are named and can’t be changed', async () => {
  await press('Values');
  const drawer = page.locator('#drawer-values');
  assert.match(await drawer.innerText(), /'Grace <i>Hopper<\/i>'\s+preview_team\(\)/);
  assert.equal(await drawer.locator('.parameters :is(input, button):visible').count(), 0);
  await press('Values');
});

test('all sets are beside each other, and a cell shows what differs', async () => {
  await openTab(page, 'Sets 3');
  await page.getByRole('button', { name: 'Refunds, team: ' }).click();
  await page.locator('.diff').getByText('+Within 30 days.').waitFor();
  await page.getByText('broken: prompt.py:12').waitFor();
  await openTab(page, 'Prompt');
});

test('what a prompt says stays text', async () => {
  const text = await page.locator('[data-id="evil"] .body').innerText();
  assert.ok(text.includes('</script><script>window.pwned = 1</script>'));
  assert.ok(text.includes('<iframe src="http://127.0.0.1:9/"></iframe>'));
  const made = page.locator('main :is(a, b, i, img, iframe, script, link, style)');
  assert.equal(await made.count(), 0);
  await press(/^(Show Exact )?Text$/);
  await page.locator('[data-id="evil"] pre.text').waitFor();
  assert.equal(await made.count(), 0);
  assert.equal(await page.locator('script').count(), 2);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
});

test('the file holds its place on a phone, in both themes, and for everybody', async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (const name of ['Sets 3', 'Prompt']) {
        await openTab(page, name);
        await assertAccessible(page, `${colorScheme}, ${width}, ${name}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${name} is ${wide} wide`);
        const shot = `saved-${name.split(' ')[0]}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: join(SCREENSHOTS, shot) });
      }
    }
  }
});

test('a print has all sections and the name of the set', async () => {
  await page.locator('[data-id="refunds"] .fold').first().click();
  await page.emulateMedia({ media: 'print' });
  await page.getByText('Deep down.').waitFor();
  assert.ok(await page.getByRole('combobox', { name: 'Parameter set' }).isVisible());
  assert.equal(await page.getByRole('tablist').isVisible(), false);
  await page.emulateMedia({ media: 'screen' });
});

test('nothing was asked of a network, and a script that was added can ask nothing', async () => {
  assert.deepEqual(requests, [pathToFileURL(file).href]);
  const tried = await page.evaluate(async () => {
    const refused = [];
    const seen = (kind) => refused.push(kind);
    addEventListener('securitypolicyviolation', (event) => seen(event.effectiveDirective));
    await fetch('http://127.0.0.1:9/').catch(() => undefined);
    const image = document.createElement('img');
    image.src = 'http://127.0.0.1:9/x.png';
    document.body.append(image);
    await new Promise((resolve) => image.addEventListener('error', resolve));
    try {
      document.body.insertAdjacentHTML('beforeend', '<p>made of a string</p>');
    } catch (error) {
      seen(error.name);
    }
    return refused;
  });
  assert.deepEqual(
    tried.filter((kind) => kind !== 'require-trusted-types-for'),
    ['connect-src', 'img-src', 'TypeError'],
  );
});

test('the file names nothing of the machine that wrote it', () => {
  const text = readFileSync(file, 'utf8');
  assert.ok(!text.includes(folder));
  assert.ok(!text.includes(process.env.PYTHON));
  assert.ok(text.includes('ZeroDivisionError'));
});

/** Presses a button, which may be in the menu. */
async function press(name) {
  const button = page.getByRole('button', { name, exact: true });
  if (!(await button.isVisible())) {
    await page.locator('.menu > summary').click();
  }
  await button.click();
}
