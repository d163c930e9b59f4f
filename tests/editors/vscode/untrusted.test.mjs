// One session in a folder that nobody trusts, whose prompt and whose interpreter leave traces.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { extensionLog, HERE, runCommand, screenshot, startWorkbench, until, webview } from './workbench.mjs';

const PROMPT = `
from pathlib import Path

from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

Path(__file__).with_name("imported").touch()

evil = PromptTemplate(
    ns="examples",
    key="evil",
    sections=[
        MarkdownSection[None](title="Greeting", key="greeting", template="Hello there."),
        MarkdownSection[None](
            title="Details",
            key="details",
            template="All of it.",
            summary="Some of it.",
            visibility=SectionVisibility.SUMMARY,
        ),
    ],
)
`;
const INTERPRETER = `#!/bin/sh
touch "$(dirname "$0")/../../started"
exec "${process.env.CHOSEN_PYTHON}" "$@"
`;

let session;
let page;
let preview;

before(async () => {
  session = await startWorkbench({
    files: { 'prompt.py': PROMPT, '.venv/bin/python': INTERPRETER },
    open: 'prompt.py',
    trusted: false,
    extensions: [join(HERE, 'fixtures/python-extension')],
    env: (workspace) => ({ CHOSEN_PYTHON: join(workspace, '.venv/bin/python') }),
  });
  page = session.page;
  preview = webview(page);
});

after(() => session?.stop());

test('a folder that is not trusted is read, and nothing of it is executed', async () => {
  await page.locator('.codelens-decoration a', { hasText: 'Preview' }).first().click();
  const banner = preview.getByRole('status');
  await banner.getByText('Nothing of this folder is executed before you trust it').waitFor();
  assert.match(extensionLog(session), /\.venv\/bin\/python is passed over/);
  await screenshot(page, 'untrusted');
  await runCommand(page, 'foldline: Restart Server');
  await until('a new server', () => extensionLog(session).split('runs as process').length === 3);
  await banner.getByText('Nothing of this folder is executed before you trust it').waitFor();
  assert.deepEqual(traces(), []);
});

test('granting trust renders the preview that waited for it', async () => {
  await preview.getByRole('button', { name: 'Manage Trust' }).click();
  await page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
  await page.keyboard.press('Control+w');
  await preview.getByRole('heading', { name: 'Greeting' }).waitFor();
  await preview.getByRole('status').waitFor({ state: 'hidden' });
  await screenshot(page, 'trusted');
  await until('the traces', () => traces().length === 2);
});

/** What was executed, by the files that it leaves. */
function traces() {
  return ['imported', 'started'].filter((name) => existsSync(join(session.workspace, name)));
}
