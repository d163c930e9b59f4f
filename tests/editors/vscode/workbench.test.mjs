// One session in a trusted folder: the code reviewer's prompt, seen, unfolded, edited and broken.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import {
  extensionLog,
  gotoLine,
  HERE,
  menu,
  pickIn,
  ROOT,
  runCommand,
  screenshot,
  startWorkbench,
  until,
  webview,
} from './workbench.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const EXAMPLE = join(ROOT, 'examples/code_reviewer');
const SOURCE = readFileSync(join(EXAMPLE, 'reviewer_prompt.py'), 'utf8').split('\n');

let session;
let page;
let preview;

before(async () => {
  session = await startWorkbench({
    folder: EXAMPLE,
    open: 'reviewer_prompt.py',
    extensions: [join(HERE, 'fixtures/python-extension')],
    // Each stays where it is, which is what one of the tests is about.
    settings: { 'foldline.preview.scrollSync': 'off' },
  });
  page = session.page;
  preview = webview(page);
});

after(() => session?.stop());

test('the server comes from the interpreter chosen in the Python extension', async () => {
  await until('the server', () => serverPids().length === 1);
  assert.ok(
    extensionLog(session).includes(`From the chosen interpreter, ${process.env.CHOSEN_PYTHON}`),
  );
});

test('the lens above a prompt opens its preview beside the editor', async () => {
  await gotoLine(page, lineOf('reviewer = '));
  await page.locator('.codelens-decoration a', { hasText: 'Preview' }).last().click();
  await heading('Review Guidance').waitFor();
  await preview.getByText('You review auth, written in Python 3.11').waitFor();
  assert.equal(await heading('Security Rules').count(), 0);
  assert.equal(await page.locator('.notification-toast').count(), 0);
  await screenshot(page, 'preview');
});

test('Open shows a section with what is below it, and Close folds it again', async () => {
  await button('Open 2 Reference Documentation').click();
  await heading('Security Rules').waitFor();
  await preview.getByText('Locks, listeners, slow work').waitFor();
  await screenshot(page, 'opened');
  // Of the size that the guide shows.
  await page.setViewportSize({ width: 1080, height: 620 });
  await runCommand(page, 'View: Close Primary Side Bar');
  await screenshot(page, 'guide-preview');
  await page.setViewportSize({ width: 1400, height: 900 });
  await button('Close 2 Reference Documentation').click();
  await heading('Security Rules').waitFor({ state: 'detached' });
});

test('Open Section… picks among closed sections, hidden ones too', async () => {
  await pickIn(page, 'foldline: Open Section', '2 Reference Documentation');
  const rows = page.locator('.quick-input-list .monaco-list-row');
  for (const closed of ['2.3 Style', '3.1 History']) {
    await rows.filter({ hasText: closed }).waitFor();
  }
  assert.equal(await rows.filter({ hasText: 'Review Guidance' }).count(), 0);
  await page.keyboard.type('style');
  await rows.filter({ hasText: 'History' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await heading('Naming').waitFor();
  await button('Close 2.3 Style').waitFor();
  await button('Close 2 Reference Documentation').click();
  await heading('Naming').waitFor({ state: 'detached' });
});

test('a code action on the prompt opens a section of it', async () => {
  await gotoLine(page, lineOf('reviewer = '));
  await runCommand(page, 'Source Action');
  await page.getByText('Open section 2 Reference Documentation of reviewer').click();
  await heading('Security Rules').waitFor();
});

test('the lens above a section opens it', async () => {
  await gotoLine(page, lineOf('title="History"'));
  // The editor may still be scrolling, and lenses move with it; opening twice does nothing.
  await until('the section to be open', async () => {
    await clickLensAbove('Open');
    return button('Close 3.1 History')
      .waitFor({ timeout: 5_000 })
      .then(
        () => true,
        () => false,
      );
  });
  await button('Close 3.1 History').click();
  await button('Open 3.1 History').waitFor();
});

test('typing changes the preview, which keeps its folds and its place', async () => {
  await button('3 Workspace').click();
  // So low that the section can be scrolled to the top.
  await page.setViewportSize({ width: 1400, height: 500 });
  const anchor = heading('Security Rules');
  await anchor.evaluate((element) => scrollBy(0, element.getBoundingClientRect().top - 100));
  const place = await anchor.evaluate((element) => element.getBoundingClientRect().top);
  assert.ok(Math.abs(place - 100) < 1, `the section is at ${place}`);
  await gotoLine(page, lineOf('You review ${project}'));
  await page.keyboard.press('End');
  await page.keyboard.type(' Mind the tests, too.');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Another paragraph.');
  await preview.getByText('Another paragraph.').waitFor({ state: 'attached' });
  await preview.getByText('Mind the tests, too.').waitFor({ state: 'attached' });
  const moved = (await anchor.evaluate((element) => element.getBoundingClientRect().top)) - place;
  assert.ok(Math.abs(moved) <= 1, `the section moved by ${moved}`);
  assert.equal(await button('3 Workspace').getAttribute('aria-expanded'), 'false');
  await page.setViewportSize({ width: 1400, height: 900 });
  await screenshot(page, 'edited');
});

test('typing ${ offers the fields of the section, and choosing one closes the braces', async () => {
  await typeInGuidance(' In ${');
  const rows = page.locator('.suggest-widget.visible .monaco-list-row');
  await rows.filter({ hasText: 'project' }).waitFor();
  await rows.filter({ hasText: 'language' }).waitFor();
  await screenshot(page, 'completion');
  await page.keyboard.type('lang');
  await rows.filter({ hasText: 'project' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.locator('.view-line', { hasText: /In.\$\{language\}$/ }).waitFor();
  await preview.getByText('In Python').waitFor({ state: 'attached' });
});

test('a syntax error keeps the last good text under a banner that leads to it', async () => {
  // Further down than in the file: the test before this one added two lines.
  const line = lineOf('reviewer = ') + 2;
  await gotoLine(page, line);
  await page.keyboard.press('End');
  await page.keyboard.type('==');
  const banner = preview.getByRole('status');
  await banner.getByText('Showing the last version that rendered.').waitFor();
  await preview.getByText('Mind the tests, too.').waitFor({ state: 'attached' });
  await screenshot(page, 'stale');
  await gotoLine(page, 1);
  await banner.getByRole('button', { name: 'Go to Problem' }).click();
  await cursorIsAt(line);
  await page.keyboard.press('End');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  await banner.waitFor({ state: 'hidden' });
});

test('Source leads to the section in the editor', async () => {
  await button('Go to the source of 2.2 Asynchronous Code').click();
  await cursorIsNear(lineOf('title="Asynchronous Code"') + 2);
});

test('a server that was killed comes back with what was open', async () => {
  const [first] = serverPids();
  process.kill(first, 'SIGKILL');
  await until('a new server', () => serverPids().length === 2);
  await preview.getByRole('status').waitFor({ state: 'hidden' });
  await preview.getByText('Mind the tests, too.').waitFor({ state: 'attached' });
  // Only what the new server renders shows that it runs: one that ends before that isn't a crash.
  await typeInGuidance(' And the log.');
  await preview.getByText('And the log.').waitFor({ state: 'attached' });
  assert.equal(await heading('Security Rules').count(), 1);
});

test('a server that was killed again is restarted by command', async () => {
  process.kill(serverPids().at(-1), 'SIGKILL');
  const banner = preview.getByRole('status');
  await banner.getByText('twice within a minute').waitFor();
  await heading('Security Rules').waitFor();
  await screenshot(page, 'stopped');
  await runCommand(page, 'foldline: Restart Server');
  await banner.waitFor({ state: 'hidden' });
  await typeInGuidance(' And the docs.');
  await preview.getByText('And the docs.').waitFor({ state: 'attached' });
});

test('a server that hangs is replaced by command', async () => {
  const hanging = serverPids().at(-1);
  process.kill(hanging, 'SIGSTOP');
  await runCommand(page, 'foldline: Restart Server');
  await until('a new server', () => serverPids().at(-1) !== hanging);
  await typeInGuidance(' And the changelog.');
  await preview.getByText('And the changelog.').waitFor({ state: 'attached' });
  assert.throws(() => process.kill(hanging, 0), { code: 'ESRCH' });
});

test('the exact text is what is sent, character by character', async () => {
  await menu(preview, 'Show Exact Text');
  await preview.getByText('## 2. Reference Documentation').waitFor();
  await screenshot(page, 'text');
  await menu(preview, 'Show Reading View');
});

test('a prompt opens as a document, which follows its source', async () => {
  await gotoLine(page, 1);
  await (await pickIn(page, 'foldline: Open Prompt as Document', /^reviewer/)).click();
  await page.locator('.tab.active', { hasText: 'reviewer.md' }).waitFor();
  const document = page.locator('[data-uri^="foldline-prompt:"] .view-lines');
  await document.getByText(/You.review.auth/).waitFor();
  await screenshot(page, 'document');
  await gotoLine(page, lineOf('You review ${project}'));
  await page.keyboard.press('Home');
  await page.keyboard.type('Now: ');
  await document.getByText(/Now:.You.review.auth/).waitFor();
});

test('the status item names the server and where it came from, and the log opens', async () => {
  await gotoLine(page, 1);
  await page.locator('[id="status.languageStatus"]').click();
  const hover = page.locator('.hover-language-status');
  await hover.getByText(/foldline \d+\.\d+/).waitFor();
  await hover.getByText('from the chosen interpreter').waitFor();
  await screenshot(page, 'status');
  await page.keyboard.press('Escape');
  await runCommand(page, 'foldline: Show Log');
  await page
    .locator('.part.panel .view-line', { hasText: /From.the.chosen.interpreter/ })
    .first()
    .waitFor();
  await screenshot(page, 'log');
});

test('closing the editor ends the server', async () => {
  const last = serverPids().at(-1);
  await session.stop();
  session = undefined;
  await until('the server to end', () => {
    try {
      process.kill(last, 0);
      return false;
    } catch (error) {
      return error.code === 'ESRCH';
    }
  });
});

function heading(title) {
  return preview.getByRole('heading', { name: title });
}

function button(name) {
  return preview.getByRole('button', { name, exact: true });
}

/** Clicks the last lens with this title above the cursor. */
async function clickLensAbove(title) {
  const lenses = page.locator('.codelens-decoration a', { hasText: title });
  const cursor = page.locator('.editor-group-container .cursors-layer .cursor').first();
  const topOf = (element) => element.getBoundingClientRect().top;
  const nearest = await until(`the lens ${title}`, async () => {
    const below = await cursor.evaluate(topOf);
    const tops = await lenses.evaluateAll((all) =>
      all.map((lens) =>
        lens.checkVisibility({ visibilityProperty: true }) ? lens.getBoundingClientRect().top : -1,
      ),
    );
    const above = tops
      .map((top, index) => ({ top, index }))
      .filter(({ top }) => top > below - 80 && top < below);
    return above.sort((a, b) => b.top - a.top)[0];
  });
  await lenses.nth(nearest.index).click();
}

/** The line, counted from 1, of the file as it was opened. */
function lineOf(text) {
  const index = SOURCE.findIndex((line) => line.includes(text));
  assert.notEqual(index, -1, text);
  return index + 1;
}

async function typeInGuidance(text) {
  await gotoLine(page, lineOf('You review ${project}'));
  await page.keyboard.press('End');
  await page.keyboard.type(text);
}

function cursorIsAt(line) {
  return page.locator('[id="status.editor.selection"]', { hasText: `Ln ${line},` }).waitFor();
}

async function cursorIsNear(line) {
  await until(`the cursor near line ${line}`, async () => {
    const text = await page.locator('[id="status.editor.selection"]').innerText();
    return Math.abs(Number(/Ln (\d+)/.exec(text)?.[1]) - line) <= 3;
  });
}

/** The processes that the extension started as its server, the newest last. */
function serverPids() {
  return [...extensionLog(session).matchAll(/runs as process (\d+)/g)].map(([, pid]) =>
    Number(pid),
  );
}
