/** The command line, as a program starts it. */
import { spawn } from "node:child_process"
import { join } from "node:path"

const launcher = join(import.meta.dirname, "../../apps/demo-server/bin/sluice.js")

/** How a command ended, and what it said. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `sluice` in a folder to its end. */
export const sluiceIn = (folder: string, args: ReadonlyArray<string>): Promise<Ran> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [launcher, ...args], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("close", (code) => resolve({ code, stdout, stderr }))
  })
