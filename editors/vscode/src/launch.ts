// Where the server comes from: the setting, the folder's environment, the chosen interpreter, PATH,
// and at last the copy that a package of the extension may bring.

import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
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
  /** The program that starts the bundled server, whether or not this package has one. */
  bundled: string;
  log: (line: string) => void;
}

/** The folders' environments that are looked into, as Python's tools name them. */
const ENVIRONMENTS = ['.venv', 'venv'];

const SERVE = ['serve', '--stdio'];

type Allowed = (file: string) => boolean;

/**
 * The command that starts the server, or null when there is none. The log gets a line for each
 * place that was looked at.
 *
 * Nothing inside a workspace folder is started before that folder is trusted: an interpreter
 * or a script that came with it is code of the workspace like any other, also where the user's own
 * setting leads to it. The command is an absolute path, so that nothing is looked for again.
 */
export async function findServer(where: Surroundings): Promise<Launch | null> {
  const allowed: Allowed = (file) => {
    if (where.trusted || !isInside(file, where.folders)) {
      return true;
    }
    where.log(`${file} is passed over: it is inside a folder that is not trusted`);
    return false;
  };
  if (where.setting.length > 0) {
    const set = ofSetting(where, allowed);
    if (set !== undefined) {
      return set;
    }
  }
  return (
    (await inEnvironments(where, allowed)) ??
    (await inInterpreter(where, allowed)) ??
    onSearchPath(where, allowed) ??
    (await inPackage(where, allowed))
  );
}

/** The same program with another command of its command line, or null when it is not foldline's. */
export function otherCommand(launch: Launch, args: readonly string[]): Launch | null {
  const serve = launch.args.lastIndexOf('serve');
  return serve === -1 ? null : { ...launch, args: [...launch.args.slice(0, serve), ...args] };
}

/** The interpreters of the folders' own environments, whether or not they are allowed to run. */
export function environmentPythons(folders: readonly string[]): string[] {
  const python = process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python';
  return folders
    .flatMap((folder) => ENVIRONMENTS.map((name) => path.join(folder, name, python)))
    .filter(isExecutable);
}

/** The setting's command; null when it names something that isn't there, which ends the search. */
function ofSetting(where: Surroundings, allowed: Allowed): Launch | null | undefined {
  const [name = '', ...args] = where.setting;
  const programs = programsOf(name, where);
  const command = programs.find(allowed);
  if (command !== undefined) {
    return { command, args, origin: 'the setting foldline.server.command' };
  }
  if (programs.length > 0) {
    return undefined;
  }
  where.log(`foldline.server.command: ${name} is not on PATH; give its absolute path`);
  return null;
}

async function inEnvironments(where: Surroundings, allowed: Allowed): Promise<Launch | null> {
  const pythons = environmentPythons(where.folders);
  if (pythons.length === 0 && where.folders.length > 0) {
    where.log(`No ${ENVIRONMENTS.join(' or ')} in ${where.folders.join(', ')}`);
  }
  for (const python of pythons) {
    const launch = await moduleOf(python, "the folder's environment", where, allowed);
    if (launch !== null) {
      return launch;
    }
  }
  return null;
}

async function inInterpreter(where: Surroundings, allowed: Allowed): Promise<Launch | null> {
  const { interpreter } = where;
  const python = interpreter === null ? undefined : programsOf(interpreter, where)[0];
  if (python === undefined) {
    where.log('No interpreter is chosen');
    return null;
  }
  return moduleOf(python, 'the chosen interpreter', where, allowed);
}

async function moduleOf(
  python: string,
  what: string,
  where: Surroundings,
  allowed: Allowed,
): Promise<Launch | null> {
  if (!allowed(python)) {
    return null;
  }
  if (await succeeds(python, ['-c', PROBE])) {
    // Without -P the folder that is opened could shadow the server's own modules.
    const args = ['-P', '-m', 'foldline.agent', ...SERVE];
    return { command: python, args, origin: `${what}, ${python}` };
  }
  where.log(`${python} has no foldline[server]`);
  return null;
}

function onSearchPath(where: Surroundings, allowed: Allowed): Launch | null {
  const command = onPath('foldline', where.searchPath).find(allowed);
  if (command === undefined) {
    where.log('No foldline on PATH');
    return null;
  }
  return { command, args: [...SERVE], origin: `PATH, ${command}` };
}

/** The bundled copy, in an interpreter that is new enough for it. */
async function inPackage(where: Surroundings, allowed: Allowed): Promise<Launch | null> {
  const program = where.bundled;
  if (!existsSync(program)) {
    where.log('This package of the extension brings no server');
    return null;
  }
  const chosen = where.interpreter === null ? [] : programsOf(where.interpreter, where);
  const names = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python'];
  const found = names.flatMap((name) => onPath(name, where.searchPath));
  for (const python of new Set([...chosen, ...found].filter(allowed))) {
    // It says itself whether it runs in this interpreter: its version, and its libraries.
    if (await succeeds(python, [program, '--version'])) {
      const args = ['-P', program, ...SERVE];
      return { command: python, args, origin: `the extension's own copy, in ${python}` };
    }
    where.log(`${python} can't run the extension's own copy`);
  }
  where.log("No Python 3.11 or later was found for the extension's own copy");
  return null;
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

function succeeds(python: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { timeout: 10_000, cwd: START_FOLDER };
    execFile(python, ['-P', ...args], options, (error) => resolve(error === null));
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
