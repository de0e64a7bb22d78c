/** Programs of Node that a benchmark starts and ends. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const LIMIT_MILLISECONDS = 60_000

export interface Program {
  readonly child: ChildProcess
  readonly pid: number
  /** What the first group of the pattern matched. */
  readonly found: string
}

/** Starts a program in the root of the repository and waits until its output matches. */
export const start = async (
  words: ReadonlyArray<string>,
  env: Record<string, string>,
  expected: RegExp,
  {
    program = process.execPath,
    errors = "inherit"
  }: { readonly program?: string; readonly errors?: "inherit" | "ignore" } = {}
): Promise<Program> => {
  const child = spawn(program, [...words], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", errors]
  })
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
  const end = performance.now() + LIMIT_MILLISECONDS
  while (performance.now() < end) {
    const found = expected.exec(output)
    if (found !== null && child.pid !== undefined) return { child, pid: child.pid, found: found[1] ?? "" }
    if (child.exitCode !== null) break
    await sleep(10)
  }
  throw new Error(`${words.at(-1)} did not start: ${output}`)
}

/** Ends the programs, each after what it was asked. */
export const stop = async (programs: Iterable<Program>): Promise<void> => {
  for (const { child } of programs) {
    if (child.exitCode !== null) continue
    child.kill("SIGTERM")
    await once(child, "exit")
  }
}
