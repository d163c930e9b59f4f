// Where the server comes from: the setting, then the chosen interpreter, then PATH.

import { execFile } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';

export interface Launch {
  command: string;
  args: string[];
  /** Where it was found, as the log and the status say it. */
  origin: string;
}

/** Where whatever is started starts: in a folder of the user's, as some systems look there first. */
export const START_FOLDER = homedir();

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
 * or a script that came with it is code of the workspace like any other, also where the user's own
 * setting leads to it. The command is an absolute path, so that nothing is looked for again.
 */
export async function findServer(where: Surroundings): Promise<Launch | null> {
  const allowed = (file: string): boolean => {
    if (where.trusted || !isInside(file, where.folders)) {
      return true;
    }
    where.log(`${file} is passed over: it is inside a folder that is not trusted`);
    return false;
  };
  const [name, ...args] = where.setting;
  if (name !== undefined) {
    const programs = programsOf(name, where);
    const command = programs.find(allowed);
    if (command !== undefined) {
      return { command, args, origin: 'the setting foldline.server.command' };
    }
    if (programs.length === 0) {
      where.log(`foldline.server.command: ${name} is not on PATH; give its absolute path`);
      return null;
    }
  }
  const interpreter =
    where.interpreter === null ? undefined : programsOf(where.interpreter, where)[0];
  if (interpreter === undefined) {
    where.log('No interpreter is chosen; searching PATH');
  } else if (allowed(interpreter)) {
    if (await holdsServer(interpreter)) {
      return {
        command: interpreter,
        // Without -P the folder that is opened could shadow the server's own modules.
        args: ['-P', '-m', 'foldline.agent', 'serve', '--stdio'],
        origin: `the chosen interpreter, ${interpreter}`,
      };
    }
    where.log(`${interpreter} has no foldline[server]; looking on PATH`);
  }
  const found = onPath('foldline', where.searchPath).find(allowed);
  return found === undefined
    ? null
    : { command: found, args: ['serve', '--stdio'], origin: `PATH, ${found}` };
}

/** The absolute paths that a setting may mean: a name is on PATH, a path starts from the folder. */
function programsOf(program: string, where: Surroundings): string[] {
  if (path.basename(program) === program) {
    return onPath(program, where.searchPath);
  }
  return [path.resolve(where.folders[0] ?? START_FOLDER, program)];
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
  const bare = process.platform === 'win32' && path.extname(name) === '';
  const endings = bare ? ['.exe', '.cmd', '.bat'] : [''];
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
    const options = { timeout: 10_000, cwd: START_FOLDER };
    execFile(python, ['-P', '-c', PROBE], options, (error) => resolve(error === null));
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
