// Folds the marked sections of instruction files before opencode sends them to a model: by
// `foldline install opencode --fold`, off by `foldline install opencode --fold --remove`.
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"

const COMMAND = ["foldline"]
// If foldline isn't there, fails, or takes longer than this, a file stays whole.
const MILLISECONDS = 3000
const MARK = /<!--\s*fold:/
const HEADER = /^Instructions from: (.+)$/gm

export const FoldlineFold = async ({ directory }) => {
  // A text stays what it was made the first time, so that what a provider has cached stays good.
  const made = new Map()

  const fold = (path, text) => {
    const [program, ...words] = [...COMMAND, "fold", "--root", directory]
    const options = { cwd: directory, timeout: MILLISECONDS, killSignal: "SIGKILL", maxBuffer: 1 << 24 }
    const rest = ["--tool", "foldline_read_section", "--", path]
    return new Promise((done) =>
      execFile(program, [...words, ...rest], options, (error, folded) =>
        done(!error && folded && folded.length < text.length ? folded : text),
      ),
    )
  }

  const folded = async (whole) => {
    for (const [header, path] of whole.matchAll(HEADER)) {
      const text = await readFile(path, "utf8").catch(() => "")
      const part = `${header}\n${text}`
      if (!MARK.test(text) || !whole.includes(part)) continue
      if (!made.has(part)) made.set(part, await fold(path, text))
      whole = whole.replace(part, () => `${header}\n${made.get(part)}`)
    }
    return whole
  }

  return {
    "experimental.chat.system.transform": async (_input, output) => {
      for (const [at, text] of output.system.entries()) output.system[at] = await folded(text)
    },
    // Reading a file brings the instructions of its folder.
    "tool.execute.after": async (input, output) => {
      if (input.tool === "read") output.output = await folded(output.output)
    },
  }
}
