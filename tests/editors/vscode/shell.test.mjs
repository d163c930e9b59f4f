// One session in a folder that starts without a server: what is said and offered, the commands, the
// views, the tools of agents; each driven as a person does it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';

import {
  extensionLog,
  gotoLine,
  HERE,
  markedIn,
  openFile,
  pickIn,
  runCommand,
  screenshot,
  startWorkbench,
  traceWord,
  until,
  webview,
} from './workbench.mjs';

const FOLDER = join(HERE, 'fixtures/shell');
const TRIAGE = readFileSync(join(FOLDER, 'triage.py'), 'utf8').split('\n');
// Makes what uv would make of an environment: there is nothing to fetch it from in a test.
const UV = `#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
case "$1" in
venv)
  mkdir -p "$2/bin"
  printf '#!/bin/sh\\nexec "${process.env.CHOSEN_PYTHON}" "$@"\\n' > "$2/bin/python"
  chmod +x "$2/bin/python"
esac
`;

let session;
let page;
let preview;

before(async () => {
  session = await startWorkbench({
    folder: FOLDER,
    files: { 'plain.py': 'print("no prompt here")\n', '../tools/uv': UV },
    open: 'plain.py',
    // A browser's VS Code saves after a second: what is to be reverted would be on the disk.
    settings: { 'files.autoSave': 'off' },
    extensions: [join(HERE, 'fixtures/tool-caller')],
    env: (workspace) => ({
      // Everything but a server.
      PATH: [join(workspace, '../tools'), dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
      VIRTUAL_ENV: undefined,
    }),
  });
  page = session.page;
  preview = webview(page);
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: session.workspace,
    });
  git('init', '--quiet');
  git('add', 'triage.py');
  git('commit', '--quiet', '-m', 'Start');
});

after(() => session?.stop());

test('a file that does not import foldline starts nothing and hears nothing', async () => {
  await page.locator('.view-line', { hasText: 'no prompt here' }).waitFor();
  await page.locator('[id="status.languageStatus"]').waitFor();
  assert.equal(await toasts().count(), 0);
  assert.doesNotMatch(extensionLog(session), /Starting the server/);
});

test('a command without a server is answered with what can be done, in one message', async () => {
  await runCommand(page, 'foldline: Show Health');
  const message = toasts().filter({ hasText: "language server isn't installed" });
  await message.waitFor();
  for (const action of ['Install into .venv', 'Select Interpreter', 'Guide']) {
    await message.getByRole('button', { name: action }).waitFor();
  }
  assert.equal(await toasts().count(), 1);
  // The view of prompts keeps what can be done; nothing else repeats it.
  await runCommand(page, 'foldline: Focus on Prompts View');
  await page.locator('.sidebar').getByText("foldline isn't installed").first().waitFor();
  assert.equal(await page.locator('.sidebar').getByText("foldline isn't installed").count(), 1);
  assert.equal(
    await page
      .locator('.statusbar .error-kind, .statusbar .has-background-color.error-kind')
      .count(),
    0,
  );
  const log = extensionLog(session);
  for (const step of [
    'No .venv or venv in',
    'No interpreter is chosen',
    'No foldline on PATH',
    'brings no server',
  ]) {
    assert.ok(log.includes(step), `${step} in\n${log}`);
  }
  await screenshot(page, 'missing');
});

test('Install into .venv makes the environment, and the server in it starts', async () => {
  await toasts().getByRole('button', { name: 'Install into .venv' }).click();
  const source = page.locator('.quick-input-widget input').first();
  await page.getByText("foldline isn't on the package index yet").waitFor();
  await source.fill('/opt/foldline');
  await page.keyboard.press('Enter');
  await until('the server', () => extensionLog(session).includes('runs as process'));
  const python = join(session.workspace, '.venv/bin/python');
  assert.ok(extensionLog(session).includes(`From the folder's environment, ${python}`));
  const asked = readFileSync(join(session.workspace, '../tools/asked'), 'utf8');
  assert.deepEqual(asked.trim().split('\n'), [
    `venv ${join(session.workspace, '.venv')}`,
    `pip install --python ${python} /opt/foldline[server,mcp]`,
  ]);
  await runCommand(page, 'Notifications: Clear All Notifications');
});

test('the view of prompts shows tokens, the budget and what is summarized', async () => {
  await runCommand(page, 'foldline: Focus on Prompts View');
  const triage = row('triage');
  await triage.waitFor();
  await until('the tokens', async () => /of 20 tokens/.test(await triage.innerText()));
  assert.match(await triage.innerText(), /\d+ of 20 tokens · over budget/);
  assert.doesNotMatch(await row('farewell').innerText(), /over budget/);
  await triage.locator('.monaco-tl-twistie').click();
  await row('2 Rules').waitFor();
  assert.match(await row('2 Rules').innerText(), /\d+ · summarized · ~?[+−]\d+ if opened/);
  await screenshot(page, 'prompts');
  await row('2 Rules').hover();
  await page
    .locator('.workbench-hover')
    .getByText(/rules: \d+ of \d+ bytes/)
    .waitFor();
  await row('2 Rules').click();
  await page.locator('.tab.active', { hasText: 'triage.py' }).waitFor();
  await cursorIsAt(lineOf('title="Rules"') - 1);
});

test('an editor of a prompt has a button, a key and a place in the status bar', async () => {
  await statusItem().waitFor();
  assert.match(await statusItem().getAttribute('aria-label'), /foldline/);
  await gotoLine(page, lineOf('title="Task"'));
  await page.keyboard.press('Control+k');
  await page.keyboard.press('v');
  await heading('Task').waitFor();
  await preview.getByText('Sort the ticket of Ada').waitFor();
  await page
    .locator('.editor-actions')
    .getByRole('button', { name: /Preview Prompt to the Side/ })
    .first()
    .waitFor();
  await screenshot(page, 'shell');
});

test('the section under the cursor is marked in the preview, that under the pointer in the source', async () => {
  await gotoLine(page, lineOf('title="Rules"'));
  await current('Rules').waitFor();
  await gotoLine(page, lineOf('title="Ticket"'));
  await current('Ticket').waitFor();
  assert.equal(await preview.locator('.block.current').count(), 1);
  await gotoLine(page, 1);
  await preview.locator('.block.current').waitFor({ state: 'detached' });
  await gotoLine(page, lineOf('title="Task"'));
  const marked = page.locator(
    '.editor-instance .view-overlays [class*="TextEditorDecorationType"]',
  );
  const unmarked = await marked.count();
  await heading('Task').hover();
  await until('the section to be marked', async () => (await marked.count()) === unmarked + 5);
  await screenshot(page, 'marked');
  await page.locator('.statusbar').hover();
  await until('no section to be marked', async () => (await marked.count()) === unmarked);
  await cursorIsAt(lineOf('title="Task"'));
});

test('a click with Ctrl on a word goes to its characters, and the cursor marks what comes from them', async () => {
  const line = lineOf('template="Sort the');
  const column = TRIAGE[line - 1].indexOf('Sort') + 1;
  await traceWord(preview, 'ticket of');
  await cursorIsAt(line, column + 'Sort the '.length);
  await until('its mark', async () => (await markedIn(preview)) === 't');
  await page.keyboard.press('ArrowRight');
  await until('the next mark', async () => (await markedIn(preview)) === 'i');
  await screenshot(page, 'trace');
  // A value is from its placeholder, from a parameter set, and from its field.
  await traceWord(preview, 'Ada');
  await cursorIsAt(line, TRIAGE[line - 1].indexOf('${customer}') + 1);
  await until('the mark of the value', async () => (await markedIn(preview)) === 'Ada');
  await preview.getByRole('button', { name: /^value of customer, triage\.py:/ }).waitFor();
  await screenshot(page, 'trace-value');
  await preview.getByRole('button', { name: /^field Ticket\.customer/ }).click();
  await cursorIsAt(lineOf('customer: str'), 5);
  await until('the mark of the field', async () => (await markedIn(preview)) === 'Ada');
  // What isn't saved counts, and a mark stays on its character while the text before it grows.
  await traceWord(preview, 'Sort');
  await cursorIsAt(line, column);
  await page.keyboard.type('\u{1f600} Now, ');
  await preview.getByText('Now, Sort the ticket of').waitFor();
  await until('the mark behind what was typed', async () => (await markedIn(preview)) === 'S');
  await traceWord(preview, 'who');
  // The status bar counts an emoji as one.
  await cursorIsAt(line, TRIAGE[line - 1].indexOf('who') + 1 + ' Now, '.length + 1);
  await until('its mark again', async () => (await markedIn(preview)) === 'w');
  await runCommand(page, 'File: Revert File');
  await preview.getByText('Now, Sort the ticket of').waitFor({ state: 'detached' });
});

test('Ctrl+. on a section offers to open it, and to close it once it is open', async () => {
  await gotoLine(page, lineOf('title="Rules"'));
  await quickFix('Open section 2 Rules of triage');
  await preview.getByText('Refunds are for a person.').waitFor();
  await gotoLine(page, lineOf('title="Rules"'));
  await quickFix('Close section 2 Rules of triage');
  await preview.getByText('Refunds are for a person.').waitFor({ state: 'detached' });
});

test('the preview follows the cursor to another prompt, unless it is locked', async () => {
  await gotoLine(page, lineOf('title="Goodbye"'));
  await heading('Goodbye').waitFor();
  assert.equal(await tabs('Preview: ').count(), 1);
  await page.locator('.tab', { hasText: 'Preview: farewell' }).click();
  await runCommand(page, 'foldline: Lock Preview');
  await tabs('[Preview] farewell').waitFor();
  await gotoLine(page, lineOf('title="Task"'));
  await page.keyboard.press('Control+k');
  await page.keyboard.press('v');
  await tabs('Preview: triage').waitFor();
  assert.equal(await tabs('[Preview] farewell').count(), 1);
  await screenshot(page, 'locked');
  await tabs('[Preview] farewell')
    .getByRole('button', { name: /^Close/ })
    .click();
  await tabs('[Preview] farewell').waitFor({ state: 'detached' });
  await heading('Task').waitFor();
});

test('Switch Parameters… shows the values of another set', async () => {
  await (await pickIn(page, 'foldline: Switch Parameters…', 'paying')).click();
  await preview.getByText('Sort the ticket of Grace').waitFor();
});

test('Open Prompt as Document and Copy Rendered Prompt take what the panel shows', async () => {
  await (await pickIn(page, 'foldline: Open Section', '2 Rules')).click();
  await preview.getByText('Refunds are for a person.').waitFor();
  await tabs('Preview: triage').click();
  await runCommand(page, 'foldline: Copy Rendered Prompt');
  const copied = await clipboard(/Refunds are for a person/);
  assert.match(copied, /Sort the ticket of Grace[^]*Refunds are for a person/);
  await tabs('Preview: triage').click();
  await runCommand(page, 'foldline: Open Prompt as Document');
  const document = page.locator('[data-uri^="foldline-prompt:"] .view-lines').last();
  await document.getByText(/Refunds.are.for.a.person/).waitFor();
  await document.getByText(/Grace/).waitFor();
  // The preview can have the focus still.
  await tabs('triage.md').click();
  await page.keyboard.press('Control+w');
});

test('a document of a preview stays when the preview follows the cursor to another prompt', async () => {
  await gotoLine(page, lineOf('title="Task"'));
  await runCommand(page, 'foldline: Open Prompt as Document');
  const document = page.locator('[data-uri^="foldline-prompt:"] .view-lines').last();
  await document.getByText(/Grace/).waitFor();
  await tabs('Preview: triage').click();
  await gotoLine(page, lineOf('title="Goodbye"'));
  await heading('Goodbye').waitFor();
  await gotoLine(page, lineOf('Sort the ticket'));
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.type(' Now.');
  await heading('Task').waitFor();
  await tabs('triage.md').click();
  await document.getByText(/Now\./).waitFor();
  await document.getByText(/Grace/).waitFor();
  assert.equal(await page.getByText('There is no preview').count(), 0);
  await page.keyboard.press('Control+w');
  await gotoLine(page, lineOf('Sort the ticket'));
  await page.keyboard.press('Control+z');
});

test('Compare with Revision… shows what the model got then', async () => {
  await gotoLine(page, lineOf('Sort the ticket'));
  await page.keyboard.press('End');
  for (let step = 0; step < 2; step++) {
    await page.keyboard.press('ArrowLeft');
  }
  await page.keyboard.type(' Be quick.');
  await preview.getByText('Be quick.').waitFor({ state: 'attached' });
  await runCommand(page, 'foldline: Compare with Revision…');
  await page.locator('.quick-input-widget input').first().waitFor();
  await page.keyboard.press('Enter');
  const diff = page.locator('.monaco-diff-editor');
  await diff.locator('.modified .view-line', { hasText: /Be.quick/ }).waitFor();
  await diff.locator('.original .view-line', { hasText: /Sort.the.ticket/ }).waitFor();
  assert.equal(await diff.locator('.original .view-line', { hasText: /Be.quick/ }).count(), 0);
  await screenshot(page, 'compare');
  await page.keyboard.press('Control+w');
});

test('the lens says the exact number once the prompt was run', async () => {
  await gotoLine(page, lineOf('title="Task"'));
  const lens = page.locator('.codelens-decoration a', { hasText: /Preview · / }).first();
  const number = await preview.locator('#more-button').getAttribute('aria-label');
  const [count] = /^[\d,]+/.exec(number);
  await until('the exact number', async () =>
    (await lens.innerText()).includes(`· ${count} tokens`),
  );
});

test('the token report and the health are documents that nobody has to save', async () => {
  await gotoLine(page, lineOf('title="Task"'));
  await runCommand(page, 'foldline: Show Token Report');
  const text = page.locator('.editor-group-container .view-lines').first();
  await text.getByText(/triage:.*of.20.tokens/).waitFor();
  await text.getByText(/2.Rules/).waitFor();
  await screenshot(page, 'tokens');
  await runCommand(page, 'foldline: Show Health');
  await text.getByText(/trusted:.prompts.are.executed/).waitFor();
  await text.getByText(/Prompts.run.in/).waitFor();
  await screenshot(page, 'health');
  const dirty = page.locator('.tab.dirty', { hasText: /Health of foldline|Tokens of triage/ });
  assert.equal(await dirty.count(), 0);
  await page.keyboard.type('x');
  assert.equal(await dirty.count(), 0, 'they are only read');
  await page.keyboard.press('Escape');
  await runCommand(page, 'foldline: Show Health');
  assert.equal(await tabs('Health of foldline').count(), 1);
  for (const title of ['Health of foldline', 'Tokens of triage']) {
    await tabs(title).click();
    await page.keyboard.press('Control+w');
    await tabs(title).waitFor({ state: 'detached' });
  }
});

test('the view of code is the outline of the file, and finds references in two tiers', async () => {
  await (await pickIn(page, 'foldline: Go to Prompt…', 'farewell')).click();
  await openFile(page, 'routing.py');
  await runCommand(page, 'foldline: Focus on Code View');
  await row('queue_for').waitFor();
  await row('Router').locator('.monaco-tl-twistie').click();
  await row('route').first().waitFor();
  const find = row('queue_for').getByRole('button', { name: /Confirmed and Possible/ });
  // A row that has moved away from the pointer shows no buttons.
  while (!(await find.isVisible())) {
    await row('Router').hover();
    await row('queue_for').hover();
  }
  await find.click();
  await row(/Confirmed|Possible/)
    .first()
    .waitFor();
  await row('return queue_for(plan)').waitFor();
  await screenshot(page, 'code');
  await row('return queue_for(plan)').click();
  await cursorIsAt(11);
});

test('the view of instructions follows the file, and leads to the sections', async () => {
  const rules = '# Rules\n\nBe brief.\n\n## Tests\n\nRun them.\n';
  writeFileSync(join(session.workspace, 'AGENTS.md'), rules);
  await openFile(page, 'plain.py');
  await runCommand(page, 'foldline: Focus on Instructions View');
  // The view of prompts lists the file, too.
  const header = page.getByRole('button', { name: 'Instructions - plain.py' });
  const pane = page.locator('.sidebar .pane', { has: header });
  const inside = (text) => pane.locator('.monaco-list-row', { hasText: text }).first();
  await inside('Codex').waitFor();
  assert.match(await inside('Codex').innerText(), /~?\d+ tokens/);
  await inside('AGENTS.md').locator('.monaco-tl-twistie').click();
  await inside('1.1 Tests').waitFor();
  await screenshot(page, 'instructions');
  await inside('1.1 Tests').click();
  await tabs('AGENTS.md').first().waitFor();
  await cursorIsAt(5);
  await openFile(page, 'routing.py');
  rmSync(join(session.workspace, 'AGENTS.md'));
});

test('Copy Code for an LLM packs a file within the bytes that are given', async () => {
  await runCommand(page, 'foldline: Copy Code for an LLM');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  await input.fill('50');
  await page.getByText('A number from 100 to 100000').waitFor();
  await input.fill('600');
  await page.keyboard.press('Enter');
  const copied = await clipboard(/queue_for/);
  assert.ok(Buffer.byteLength(copied) <= 600, copied);
});

test('agents call the tools', async () => {
  await runCommand(page, 'Tool Caller: Call');
  const file = join(session.workspace, '../called.json');
  const { answers, tools } = JSON.parse(
    await until('the answers', () => existsSync(file) && readFileSync(file, 'utf8')),
  );
  assert.match(answers.foldline_get_file_outline, /class Router/);
  assert.match(answers.foldline_read_symbol, /return queue_for\(plan\)/);
  assert.match(answers.foldline_find_references, /triage\.py/);
  assert.match(answers.foldline_read_file, /^failed: .*outside/);
  assert.equal(tools.length, 9);
});

test('the editor is offered the MCP server of the folder', () => {
  assert.ok(
    extensionLog(session).includes(`mcp --root ${session.workspace} --trust`),
    extensionLog(session),
  );
});

test('New Prompt writes a module and previews it', async () => {
  await runCommand(page, 'foldline: New Prompt');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  assert.equal(await input.inputValue(), 'prompts/support.py');
  await page.keyboard.press('Enter');
  await page.locator('.tab', { hasText: 'support.py' }).first().waitFor();
  await preview.getByText('Answer a question about Lumen').waitFor();
  await runCommand(page, 'foldline: Focus on Prompts View');
  await row('support').waitFor();
  await runCommand(page, 'foldline: New Prompt');
  await input.waitFor();
  await page.keyboard.press('Enter');
  await toasts().filter({ hasText: 'exists, and is left alone' }).waitFor();
  await runCommand(page, 'Notifications: Clear All Notifications');
});

test('Restart Worker and Select Interpreter say what they did', async () => {
  await runCommand(page, 'foldline: Restart Worker');
  await page
    .locator('.statusbar')
    .getByText(/foldline: /)
    .first()
    .waitFor();
  const python = join(session.workspace, '.venv/bin/python');
  const settings = join(session.workspace, '.vscode/settings.json');
  const chosen = () =>
    existsSync(settings) &&
    JSON.parse(readFileSync(settings, 'utf8') || '{}')['foldline.interpreter'];
  const starts = () => extensionLog(session).split('runs as process').length;
  const before = starts();
  await (await pickIn(page, 'foldline: Select Interpreter', python)).click();
  await until('the setting', () => chosen() === python);
  await until('a server with it', () => starts() === before + 1);
  await (await pickIn(page, 'foldline: Select Interpreter', 'Automatic')).click();
  await until('no setting', () => chosen() === undefined);
});

test('settings have boxes and lists, and the project decides what nobody set', async () => {
  await openFile(page, 'triage.py');
  await page.locator('.codelens-decoration a', { hasText: 'Preview' }).first().waitFor();
  // The project turns hints off, and the default of the setting does not turn them on.
  assert.equal(await page.locator('.view-line', { hasText: /tok/ }).count(), 0);
  await runCommand(page, 'Preferences: Open Settings (UI)');
  const shown = page.locator('.settings-editor').getByText('Code Lens').first();
  // What is typed while the settings still load is lost.
  await until('the settings of the extension', async () => {
    await page.locator('.settings-editor .suggest-input-container').first().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('@ext:foldline.foldline');
    return shown.waitFor({ timeout: 5_000 }).then(
      () => true,
      () => false,
    );
  });
  await screenshot(page, 'settings');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+w');
});

test('the guide is a walkthrough', async () => {
  await runCommand(page, 'foldline: Guide');
  await page.getByText('Get started with foldline').first().waitFor();
  await page.getByText('See what the model sees').first().waitFor();
  const steps = page.locator('.getting-started-step');
  const done = (title) => steps.filter({ hasText: title }).locator('[aria-checked=true]');
  await done('Install the language server').waitFor();
  await done('See what the model sees').waitFor();
  assert.doesNotMatch((await steps.allInnerTexts()).join(''), /`/);
  await screenshot(page, 'guide');
});

/** The section that the preview marks as that of the cursor. */
function current(title) {
  return preview.locator('.block.current').getByRole('heading', { name: title });
}

function statusItem() {
  return page.locator('[id="foldline.foldline.foldline.bar"]');
}

function toasts() {
  return page.locator('.notification-toast');
}

function row(text) {
  return page.locator('.sidebar .monaco-list-row', { hasText: text }).first();
}

function tabs(text) {
  return page.locator('.tab', { hasText: text });
}

function heading(title) {
  return preview.getByRole('heading', { name: title });
}

async function quickFix(title) {
  const action = page.locator('.action-widget').getByText(title);
  // Right after an edit or a start the server may still be reading.
  await until(title, async () => {
    await page.keyboard.press('Control+.');
    try {
      await action.waitFor({ timeout: 5_000 });
      return true;
    } catch {
      await page.keyboard.press('Escape');
      return false;
    }
  });
  await action.click();
}

/** What is in the clipboard, once it is this; pasting shows it without a permission. */
async function clipboard(expected) {
  return until('the clipboard', async () => {
    const text = await page.evaluate(() => navigator.clipboard.readText());
    return expected.test(text) && text;
  });
}

function cursorIsAt(line, column = '') {
  return page
    .locator('[id="status.editor.selection"]', { hasText: `Ln ${line}, Col ${column}` })
    .waitFor();
}

/** The line, counted from 1, of the file as it was opened. */
function lineOf(text) {
  const index = TRIAGE.findIndex((line) => line.includes(text));
  assert.notEqual(index, -1, text);
  return index + 1;
}
