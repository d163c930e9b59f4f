// One session in a trusted repository in Go: its AGENTS.md is a prompt, its README.md is left alone,
// and texts of its one Python file become prompts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';

import {
  extensionLog,
  gotoLine,
  HERE,
  openFile,
  pickIn,
  runCommand,
  screenshot,
  startWorkbench,
  until,
  webview,
} from './workbench.mjs';

const DATA = 'It lives in `data/`, one file for each year. '.repeat(20);

const LEGACY = `SYSTEM_PROMPT = "You help {name} with all that there is."
WELCOME = "You welcome {{ name }} to this shop, and are brief."

def ask(question: str) -> str:
    return f"You are a bot. Answer {question}, please."

from jinja2 import Template
GREETING = Template(WELCOME)
`;
const FILES = {
  'go.mod': 'module example.com/app\n',
  'main.go': 'package main\n\nfunc main() {}\n',
  'README.md': '# App\n\n## Empty\n',
  'AGENTS.md': `# Rules
Be brief.

## Data
<!-- fold: where the data lives -->
${DATA}

## Tests
Run \`go test ./...\`.

## Empty
`,
  'legacy.py': LEGACY,
};

let session;
let page;
let preview;

before(async () => {
  session = await startWorkbench({
    files: FILES,
    open: 'README.md',
    extensions: [join(HERE, 'fixtures/python-extension')],
  });
  page = session.page;
  preview = webview(page);
});

after(() => session?.stop());

test('the server starts with AGENTS.md, not with another Markdown file', async () => {
  await page.locator('.tab', { hasText: 'README.md' }).waitFor();
  assert.ok(!extensionLog(session).includes('Starting the server'));
  await openFile(page, 'AGENTS.md');
  await until('the server', () => extensionLog(session).includes('AGENTS.md holds prompts'));
  await page.locator('.codelens-decoration a', { hasText: 'Preview · ' }).waitFor();
  await page.locator('.codelens-decoration a', { hasText: 'Open · ' }).waitFor();
  await page.locator('.squiggly-info').waitFor();
  await screenshot(page, 'instructions');
});

test('its lens opens the preview, in which a folded section opens', async () => {
  await gotoLine(page, 1);
  await page.locator('.codelens-decoration a', { hasText: 'Preview · ' }).click();
  await preview.getByText('where the data lives').waitFor();
  assert.equal(await preview.getByText('one file for each year').count(), 0);
  await preview.getByRole('button', { name: 'Open 1.1 Data', exact: false }).click();
  await preview.getByText('one file for each year').first().waitFor();
  await screenshot(page, 'instructions-preview');
});

test('README.md has no lens, no hint and no diagnostic', async () => {
  await runCommand(page, 'View: Close All Editors');
  await openFile(page, 'README.md');
  await page.locator('.view-line', { hasText: '# App' }).waitFor();
  // The server has answered what it would have been asked before.
  await pickIn(page, 'foldline: Go to Prompt', 'AGENTS.md');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.codelens-decoration a').count(), 0);
  assert.equal(await page.locator('.squiggly-info').count(), 0);
});

test('a preview of a file without a prompt offers to adopt the text at the cursor', async () => {
  await openFile(page, 'legacy.py');
  await gotoLine(page, 2);
  await runCommand(page, 'foldline: Preview Prompt to the Side');
  const toast = toasts().filter({ hasText: 'No prompt in this file' });
  await toast.getByText('Adopt as Prompt', { exact: true }).click();
  await tab('welcome_prompt.py').waitFor();
  await runCommand(page, 'File: Save');
});

test('a module that exists is opened', async () => {
  await openFile(page, 'legacy.py');
  await gotoLine(page, 2);
  await pickIn(page, 'foldline: Adopt as Prompt', 'Write Another Module…');
  await picks('Open welcome_prompt.py').click();
  await page.locator('.tab.active', { hasText: 'welcome_prompt.py' }).first().waitFor();
});

test('the place that made the text is rewritten', async () => {
  await openFile(page, 'legacy.py');
  await gotoLine(page, 5);
  await runCommand(page, 'foldline: Adopt as Prompt');
  await tab('ask_prompt.py').waitFor();
  await toasts().getByText('Render It in legacy.py:5', { exact: true }).click();
  await openFile(page, 'legacy.py');
  await page.locator('.view-line', { hasText: 'ask_template.render(AskParams(' }).first().waitFor();
});

test('a text of the view is adopted, once its style is chosen', async () => {
  await runCommand(page, 'foldline: Focus on Texts to Adopt View');
  const view = page.locator('[aria-label="Texts to Adopt"] .monaco-list-row');
  await view.filter({ hasText: 'SYSTEM_PROMPT' }).first().click();
  await picks('format').click();
  await tab('system_prompt.py').waitFor();
});

function tab(name) {
  return page.locator('.tab', { hasText: name }).first();
}

function toasts() {
  return page.locator('.notification-toast');
}

function picks(text) {
  return page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
}
