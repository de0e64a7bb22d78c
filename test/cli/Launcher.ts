/** Runs the command line, as a process or inside the test process. */
import { ConfigProvider, Console, Effect, Exit } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { format } from "node:util"
import { runSluice } from "../../apps/demo-server/src/cli/Sluice.ts"

const launcher = join(import.meta.dirname, "../../apps/demo-server/bin/sluice.js")

/** How a command ended and what it printed. */
export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `sluice` in a folder as a separate process. It is stopped by `signal` once it has printed `stopAt`. */
export const sluiceIn = (
  folder: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  stopAt?: string,
  signal: NodeJS.Signals = "SIGTERM"
): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [launcher, ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      if (stopAt !== undefined && stdout.includes(stopAt)) child.kill(signal)
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("close", (code) => resolve({ code, stdout, stderr }))
  })

/** Runs `sluice` in this process and its folder. A process costs .7 s of CPU. */
export const sluiceHere = async (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Promise<CommandResult> => {
  const output = { stdout: "", stderr: "" }
  const append =
    (out: keyof typeof output) =>
    (...values: ReadonlyArray<unknown>) =>
      void (output[out] += `${format(...values)}\n`)
  const capture = Object.assign(Object.create(console) as Console.Console, {
    log: append("stdout"),
    error: append("stderr")
  })
  const before = process.exitCode
  try {
    const exit = await Effect.runPromiseExit(
      runSluice(args).pipe(
        Effect.scoped,
        Effect.provideService(Console.Console, capture),
        // Effect's default provider keeps the variables of its first use.
        Effect.provideService(
          ConfigProvider.ConfigProvider,
          ConfigProvider.orElse(ConfigProvider.fromEnv({ env }), ConfigProvider.fromEnv())
        )
      )
    )
    const code = Exit.isSuccess(exit) ? Number(process.exitCode ?? 0) : 1
    return { code, ...output }
  } finally {
    process.exitCode = before
  }
}
