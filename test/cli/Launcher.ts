/** The command line, as a program starts it, and in this process, where a start is not what is looked at. */
import { Console, Effect, Exit } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { format } from "node:util"
import { run } from "../../apps/demo-server/src/cli/Run.ts"

const launcher = join(import.meta.dirname, "../../apps/demo-server/bin/sluice.js")

/** How a command ended, and what it said. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `sluice` in a folder to its end, as a process of its own. */
export const sluiceIn = (
  folder: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Promise<Ran> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [launcher, ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("close", (code) => resolve({ code, stdout, stderr }))
  })

/** The same in this process and its folder: a start costs .7 s of a core. */
export const sluiceHere = async (args: ReadonlyArray<string>): Promise<Ran> => {
  const said = { stdout: "", stderr: "" }
  const to =
    (out: keyof typeof said) =>
    (...words: ReadonlyArray<unknown>) =>
      void (said[out] += `${format(...words)}\n`)
  const heard = Object.assign(Object.create(console) as Console.Console, {
    log: to("stdout"),
    error: to("stderr")
  })
  const before = process.exitCode
  try {
    const exit = await Effect.runPromiseExit(
      run(args).pipe(Effect.scoped, Effect.provideService(Console.Console, heard))
    )
    const code = Exit.isSuccess(exit) ? Number(process.exitCode ?? 0) : 1
    return { code, ...said }
  } finally {
    process.exitCode = before
  }
}
