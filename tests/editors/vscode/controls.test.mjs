// Every control of the panel, driven in a real VS Code with a company's prompts.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { ACME, lineOf } from './acme.mjs';
import { assertAccessible } from './axe.mjs';
import {
  SCREENSHOTS,
  menu,
  openFile,
  pickIn,
  openTab,
  runCommand,
  startWorkbench,
  webview,
} from './workbench.mjs';

const THEMES = {
  'dark-modern': 'Dark Modern',
  'dark-plus': 'Dark+',
  'light-modern': 'Light Modern',
  'high-contrast': 'Dark High Contrast',
  'high-contrast-light': 'Light High Contrast',
};
/** Where the screenshots of the themes go. */
const FOLDER = process.env.FOLDLINE_SCREENSHOTS ?? SCREENSHOTS;

let session;
let page;
let preview;

before(async () => {
  session = await startWorkbench({
    files: ACME,
    open: 'prompts/triage.py',
    settings: {
      'foldline.server.command': [
        process.env.CHOSEN_PYTHON,
        '-m',
        'foldline.agent',
        'serve',
        '--stdio',
      ],
    },
  });
  page = session.page;
  preview = webview(page);
  const git = (...words) => execFileSync('git', words, { cwd: session.workspace, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-q', '-m', 'all');
  await openPreview();
});

after(() => session?.stop());

test('the set in use is shown, and another one is chosen', async () => {
  await shown('Ada').waitFor();
  assert.equal(await sets().inputValue(), 'free_user');
  await sets().selectOption('team_user');
  await shown('Grace').waitFor();
  await button('Undo').click();
  await shown('Ada').waitFor();
  assert.equal(await sets().inputValue(), 'free_user');
});

test('a value is changed in the form, and says at its field why it is refused', async () => {
  await menu(preview, 'Values');
  const seats = preview.getByLabel('seats', { exact: true });
  await seats.fill('seven');
  await seats.press('Tab');
  await preview.getByText('Type a whole number, such as 3.').waitFor();
  assert.equal(await seats.inputValue(), 'seven');
  await seats.fill('7');
  await seats.press('Tab');
  await preview.getByText('7 seats').waitFor();
  await preview.getByText('set here').waitFor();
  await seats.fill('0');
  await seats.press('Tab');
  await preview.locator('.problem:visible', { hasText: 'at least one seat' }).waitFor();
  assert.equal(await seats.inputValue(), '0', 'what was typed stays');
  await shown('7 seats').waitFor();
  await seats.fill('7');
  await seats.press('Tab');
  await preview.locator('.problem:visible').waitFor({ state: 'detached' });
  const tags = preview.getByLabel('tags', { exact: true });
  await tags.fill('["new"]');
  await tags.press('Tab');
  await shown('new').waitFor();
  await button('Reset tags').click();
  await shown('new').waitFor({ state: 'detached' });
  await button('Reset All Values').click();
  await preview.getByText('1 seats').waitFor();
});

test('the origin of a value leads to its line', async () => {
  await preview
    .getByRole('button', { name: 'Go to preview_free_user() in triage.py' })
    .first()
    .click();
  await cursorAt(lineOf('prompts/triage.py', 'def preview_free_user'));
});

test('a render with other values leaves the preview as it is', async () => {
  await preview.getByLabel('Render once').check();
  const name = preview.getByLabel('name', { exact: true });
  await name.fill('Eve');
  await name.press('Tab');
  await preview.locator('.once pre').getByText('Eve').waitFor();
  assert.equal(await shown('Eve').count(), 0);
  await preview.getByLabel('Render once').uncheck();
  await button('Dismiss').click();
  await menu(preview, 'Values');
});

test('chapters are open as they are sent, one closes, and one that may not open says why', async () => {
  await preview.getByText('Be kind.').waitFor();
  await menu(preview, /^Chapters/);
  await preview
    .getByText('Chapters: tone open, as evaluate sends them; closed: legal (its enabled')
    .waitFor();
  assert.equal(await button('Open chapter Legal').isDisabled(), true);
  await button('Close chapter Tone').click();
  await preview.getByText('Be kind.').waitFor({ state: 'detached' });
  await button('Open chapter Tone').click();
  await preview.getByText('Be kind.').waitFor();
  await menu(preview, /^Chapters/);
});

test('a section is read without opening it, and opened with a reason', async () => {
  await button('Read 4 Policies').click();
  await preview.locator('.whole').getByText('Refunds within 30 days').waitFor();
  await button('Open 4 Policies').waitFor();
  await button('Reason for opening 4 Policies').click();
  await preview.getByLabel('Reason to open it').fill('they asked for money');
  await page.keyboard.press('Enter');
  await button('Close 4 Policies').waitFor();
});

test('the slider walks the steps, and goes back to one', async () => {
  await menu(preview, /^History/);
  const about = preview.locator('.history .step');
  await about.getByText('Opened policies: they asked for money').waitFor();
  await preview.locator('.history .line.added').first().waitFor();
  const slider = preview.getByRole('slider', { name: 'Step' });
  await slider.press('Home');
  await about.getByText('As it first was').waitFor();
  await button('Go Back to This Step').click();
  await button('Open 4 Policies').waitFor();
  await preview.locator('.history').waitFor({ state: 'hidden' });
});

test('tools, output and messages have tabs that arrows walk', async () => {
  await details();
  await tab('Tools').click();
  await preview.getByRole('tabpanel').getByText('"section_keys"').first().waitFor();
  await page.keyboard.press('ArrowRight');
  await preview.getByRole('tabpanel').getByText('Sort the message of').waitFor();
  await tab('Costs').click();
  await preview.getByText('Cache', { exact: true }).waitFor();
  await details();
});

test('all sets are a table, and a cell shows how its text differs', async () => {
  await openTab(preview, 'Sets 3');
  await preview.getByRole('button', { name: /^Task, team_user: .*, not as in free_user$/ }).click();
  await preview.locator('.diff').getByText('+Sort the message of **Grace**').waitFor();
  await page.screenshot({ path: join(FOLDER, 'controls-sets.png') });
  await openTab(preview, 'Prompt');
});

test('the prompt is compared with a revision in the editor’s own comparison', async () => {
  await sets().selectOption('team_user');
  await shown('Grace').waitFor();
  await menu(preview, 'Compare');
  await preview.getByLabel('Branch or revision').fill('nowhere');
  await page.keyboard.press('Enter');
  await preview.getByText("has no revision 'nowhere'").waitFor();
  await button('Previous Step').click();
  await page.locator('.monaco-diff-editor .modified').getByText(/Grace/).first().waitFor();
  await page.locator('.monaco-diff-editor .original').getByText(/Ada/).first().waitFor();
  await page.locator('.tab', { hasText: 'Preview: triage' }).click();
  // The values are the same on both sides.
  await button('HEAD').click();
  await preview.getByText('HEAD and now are the same text.').waitFor();
  assert.equal(await page.locator('.tab', { hasText: 'HEAD ↔ now' }).count(), 0);
  await menu(preview, 'Compare');
});

test('what was chosen comes back after the window was reloaded', async () => {
  await button('Open 4 Policies').click();
  await button('Close 4 Policies').waitFor();
  // The file that the address names would be opened in place of what was open.
  await page.evaluate(() => {
    const address = new URL(location.href);
    address.searchParams.delete('payload');
    history.replaceState(null, '', address);
  });
  await Promise.all([page.waitForEvent('load'), runCommand(page, 'Developer: Reload Window')]);
  await button('Close 4 Policies').waitFor();
  await shown('Grace').waitFor();
  assert.equal(await sets().inputValue(), 'team_user');
});

test('the panel can be read and used in every theme', async () => {
  await menu(preview, 'Values');
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, theme] of Object.entries(THEMES)) {
    await page.keyboard.press('F1');
    const input = page.locator('.quick-input-widget input').first();
    await input.fill('>Preferences: Color Theme');
    await page.getByRole('option', { name: /^Preferences: Color Theme/ }).click();
    await page
      .getByRole('option', { name: /^(Light|Dark)/ })
      .first()
      .waitFor();
    await input.fill(theme);
    await page.locator('.quick-input-list .monaco-list-row.focused', { hasText: theme }).waitFor();
    await page.keyboard.press('Enter');
    await preview.locator(`body[data-vscode-theme-name="${theme}"]`).waitFor();
    await page.screenshot({ path: join(FOLDER, `controls-${name}.png`) });
    const handle = await preview.locator('body').elementHandle();
    await assertAccessible(await handle.ownerFrame(), theme);
  }
  await menu(preview, 'Values');
});

test('values that were made up are marked', async () => {
  await openPreview('unbound.py');
  await button('4 made up').click();
  assert.equal(await preview.getByText('made up', { exact: true }).count(), 4);
  await page.screenshot({ path: join(FOLDER, 'controls-made-up.png') });
});

test('what hides sections says what they cost, in a narrow panel, too', async () => {
  await openPreview('handbook.py');
  await menu(preview, 'Fold All');
  await preview.getByRole('button', { name: / over\)$/ }).waitFor();
  assert.match(await preview.locator('.cost:visible').first().innerText(), /^\d{3,} in all$/);
  await page.screenshot({ path: join(FOLDER, 'controls-handbook.png') });
});

test('a section that fails costs nothing and leads to its line', async () => {
  await openPreview('two_prompts.py', 'farewell');
  await preview.getByText('division by zero').waitFor();
  assert.equal(await preview.locator('[data-id="goodbye"] .cost').count(), 0);
  await page.screenshot({ path: join(FOLDER, 'controls-failing.png') });
  const line = lineOf('prompts/two_prompts.py', '10 / shop.visits');
  await button(`Go to line ${line}`).click();
  await cursorAt(line);
});

test('a missing package offers another interpreter', async () => {
  await openPreview('missing_dep.py');
  await preview
    .getByText('Showing the source, not executed. Line 1: ModuleNotFoundError')
    .waitFor();
  await preview
    .getByRole('status')
    .getByText(/It ran in \S+python/)
    .waitFor();
  await page.screenshot({ path: join(FOLDER, 'controls-missing.png') });
  await button('Choose Interpreter').click();
  await page.locator('.quick-input-widget').getByText('Which Python runs prompts').waitFor();
  await page.keyboard.press('Escape');
});

/** Shows the prompt of a module, and nothing else, in the editor. */
async function openPreview(module, prompt) {
  if (module !== undefined) {
    await runCommand(page, 'View: Close All Editors');
    await openFile(page, module);
  }
  const command = 'foldline: Preview Prompt to the Side';
  if (prompt === undefined) {
    await runCommand(page, command);
  } else {
    await (await pickIn(page, command, prompt)).click();
  }
  await preview.locator('.block').first().waitFor();
}

function button(name) {
  return preview.getByRole('button', { name, exact: true });
}

/** In the text of the prompt. */
function shown(text) {
  return preview.locator('.text-panel').getByText(text);
}

/** Shows or hides what is behind the number in the bar. */
function details() {
  return preview.locator('#more-button').click();
}

function tab(name) {
  return preview.getByRole('tab', { name });
}

function sets() {
  return preview.getByRole('combobox', { name: 'Parameter set' });
}

function cursorAt(line) {
  return page.locator('[id="status.editor.selection"]', { hasText: `Ln ${line},` }).waitFor();
}
