// One session in a trusted folder with texts that become prompts.
import { after, before, test } from 'node:test';
import { join } from 'node:path';

import {
  gotoLine,
  HERE,
  openFile,
  pickIn,
  ROOT,
  runCommand,
  startWorkbench,
} from './workbench.mjs';

const LEGACY = `SYSTEM_PROMPT = "You help {name} with all that there is."
WELCOME = "You welcome {{ name }} to this shop, and are brief."

def ask(question: str) -> str:
    return f"You are a bot. Answer {question}, please."

from jinja2 import Template
GREETING = Template(WELCOME)
`;

let session;
let page;

before(async () => {
  session = await startWorkbench({
    folder: join(ROOT, 'examples/code_reviewer'),
    files: { 'legacy.py': LEGACY },
    open: 'legacy.py',
    extensions: [join(HERE, 'fixtures/python-extension')],
  });
  page = session.page;
});

after(() => session?.stop());

test('a preview of a file without a prompt offers to adopt the text at the cursor', async () => {
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
