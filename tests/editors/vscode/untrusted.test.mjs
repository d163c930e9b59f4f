// A folder that nobody trusts, whose prompt and whose interpreter leave traces when they are run.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';

import {
  extensionLog,
  HERE,
  runCommand,
  screenshot,
  startWorkbench,
  until,
  webview,
} from './workbench.mjs';

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

// A server that starts only once the test says so.
const SLOW = `#!/bin/sh
while [ ! -e "$(dirname "$0")/go" ]; do sleep 0.1; done
exec "${process.env.CHOSEN_PYTHON}" -m foldline.agent serve --stdio
`;

let session;
let page;
let preview;

afterEach(async () => {
  await session?.stop();
  session = undefined;
});

test('nothing of a folder is executed, neither its prompt nor its interpreter, before it is trusted', async () => {
  await openFolder({
    extensions: [join(HERE, 'fixtures/python-extension')],
    env: (workspace) => ({ CHOSEN_PYTHON: join(workspace, '.venv/bin/python') }),
  });
  assert.match(extensionLog(session), /\.venv\/bin\/python is passed over/);
  await screenshot(page, 'untrusted');
  await runCommand(page, 'foldline: Restart Server');
  await until('a new server', () => serversStarted() === 2);
  await untrustedBanner().waitFor();
  assert.deepEqual(traces(), []);
  await trustFolder();
  await preview.getByRole('status').waitFor({ state: 'hidden' });
  await preview.locator('.fidelity').waitFor({ state: 'hidden' });
  await screenshot(page, 'trusted');
  assert.deepEqual(traces(), ['imported', 'started']);
});

test('the panel says that it waits for the server, which is told of the trust if it was right all along', async () => {
  session = await startWorkbench({
    files: { 'prompt.py': PROMPT, '../tools/slow-foldline': SLOW },
    open: 'prompt.py',
    trusted: false,
    settings: { 'foldline.server.command': ['slow-foldline'] },
    env: (workspace) => ({ PATH: `${join(workspace, '../tools')}:${process.env.PATH}` }),
  });
  page = session.page;
  preview = webview(page);
  await runCommand(page, 'foldline: Preview Prompt to the Side');
  await preview.getByText('Reading prompt.py…').waitFor();
  writeFileSync(join(session.workspace, '../tools/go'), '');
  await preview.getByText('Some of it.').waitFor();
  assert.equal(await page.locator('.tab', { hasText: 'Preview' }).count(), 1);
  await trustFolder();
  await preview.getByRole('status').waitFor({ state: 'hidden' });
  assert.deepEqual(traces(), ['imported']);
  assert.equal(serversStarted(), 1);
});

/** Opens the folder without trust, up to the preview of its source. */
async function openFolder(options) {
  session = await startWorkbench({
    files: { 'prompt.py': PROMPT, '.venv/bin/python': INTERPRETER },
    open: 'prompt.py',
    trusted: false,
    ...options,
  });
  page = session.page;
  preview = webview(page);
  await page.locator('.codelens-decoration a', { hasText: 'Preview' }).first().click();
  await untrustedBanner().waitFor();
  await preview.getByText('Some of it.').waitFor();
  assert.equal(await preview.locator('.fidelity').innerText(), 'Source only');
}

function untrustedBanner() {
  return preview.getByRole('status').getByText('Nothing of this folder runs before you trust it');
}

async function trustFolder() {
  await preview.getByRole('button', { name: 'Manage Trust' }).click();
  await page
    .locator('.workspace-trust-editor')
    .getByRole('button', { name: 'Trust', exact: true })
    .click();
  await page.keyboard.press('Control+w');
}

function serversStarted() {
  return extensionLog(session).split('runs as process').length - 1;
}

/** What was executed, by the files that it leaves. */
function traces() {
  return ['imported', 'started'].filter((name) => existsSync(join(session.workspace, name)));
}
