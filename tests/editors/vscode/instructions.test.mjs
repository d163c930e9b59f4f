// A repository in Go, with no line of Python: its AGENTS.md is a prompt, its README.md is left alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import {
  extensionLog,
  gotoLine,
  openFile,
  pickIn,
  runCommand,
  screenshot,
  startWorkbench,
  until,
  webview,
} from './workbench.mjs';

const DATA = 'It lives in `data/`, one file for each year. '.repeat(20);
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
};

let session;
let page;
let preview;

before(async () => {
  session = await startWorkbench({ files: FILES, open: 'README.md' });
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
