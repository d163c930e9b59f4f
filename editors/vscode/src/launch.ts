// Where the server comes from: the setting, then the chosen interpreter, then PATH.

import { execFile } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import * as path from 'node:path';

export interface Launch {
  command: string;
  args: string[];
  /** Where it was found, as the log and the status say it. */
  origin: string;
}

export interface Surroundings {
  /** The setting's words; empty when it is not set. */
  setting: readonly string[];
  interpreter: string | null;
  searchPath: string;
  folders: readonly string[];
  trusted: boolean;
  log: (line: string) => void;
}

/**
 * The command that starts the server, or null when there is none.
 *
 * Nothing inside a workspace folder is started before that folder is trusted: an interpreter
 * or a script that came with it is code of the workspace like any other.
 */
export async function findServer(where: Surroundings): Promise<Launch | null> {
  const [command, ...args] = where.setting;
  if (command !== undefined) {
    return { command, args, origin: 'the setting foldline.server.command' };
  }
  const allowed = (file: string): boolean => {
    if (where.trusted || !isInside(file, where.folders)) {
      return true;
    }
    where.log(`${file} is passed over: it is inside a folder that is not trusted`);
    return false;
  };
  if (where.interpreter === null) {
    where.log('No interpreter is chosen; looking on PATH');
  } else if (allowed(where.interpreter)) {
    if (await holdsServer(where.interpreter)) {
      return {
        command: where.interpreter,
        // Without -P the folder that is opened could shadow the server's own modules.
        args: ['-P', '-m', 'foldline.agent', 'serve', '--stdio'],
        origin: `the chosen interpreter, ${where.interpreter}`,
      };
    }
    where.log(`${where.interpreter} has no foldline[server]; looking on PATH`);
  }
  const found = onPath('foldline', where.searchPath).find(allowed);
  return found === undefined
    ? null
    : { command: found, args: ['serve', '--stdio'], origin: `PATH, ${found}` };
}

export function isInside(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) =>
    // A path and what it resolves to both count: a link is as good as what it links to.
    [file, real(path.dirname(file)), real(file)].some((candidate) =>
      [folder, real(folder)].some((root) => {
        const relative = path.relative(root, candidate);
        const outside = relative === '..' || relative.startsWith(`..${path.sep}`);
        return relative !== '' && !outside && !path.isAbsolute(relative);
      }),
    ),
  );
}

/** The executables of this name on PATH, first found first; relative entries are ignored. */
export function onPath(name: string, searchPath: string): string[] {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  return searchPath
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .flatMap((folder) => endings.map((ending) => path.join(folder, name + ending)))
    .filter(isExecutable);
}

const PROBE =
  'import sys; from importlib.util import find_spec; ' +
  'sys.exit(not (find_spec("foldline") and find_spec("foldline.server") and find_spec("pygls")))';

function holdsServer(python: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(python, ['-P', '-c', PROBE], { timeout: 10_000 }, (error) => resolve(error === null));
  });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function real(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
