/** Runs the server with `npm start`, as a user does, and stops it after `use`. */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "./FreePort.ts"

const LIMIT_MILLISECONDS = 60_000
const ATTEMPT_MILLISECONDS = 500

export interface RunningServer {
  readonly url: string
  /** From the start of the process until the page answers. */
  readonly secondsToPage: number
  /** Standard output so far. The first start prints the API key. */
  readonly output: () => string
}

const stop = async (server: ChildProcess): Promise<void> => {
  if (server.pid === undefined || server.exitCode !== null) return
  const ended = new Promise((done) => server.once("exit", done))
  process.kill(-server.pid, "SIGTERM")
  await ended
}

/** Runs `npm start` on a data folder and waits until `GET /` returns the page. */
export const withServer = async <A>(data: string, use: (server: RunningServer) => Promise<A>): Promise<A> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const start = performance.now()
  const server = spawn("npm", ["start"], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, PORT: String(port), SLUICE_DATA: data },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true
  })
  let output = ""
  server.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
  try {
    while (performance.now() - start < LIMIT_MILLISECONDS) {
      if (server.exitCode !== null) throw new Error(`npm start ended with ${server.exitCode}: ${output}`)
      const answer = await fetch(url, { signal: AbortSignal.timeout(ATTEMPT_MILLISECONDS) }).catch(
        () => undefined
      )
      // The page may answer some milliseconds before the key is printed.
      if (answer?.ok === true && (await answer.text()).includes("<title>") && output.includes("/docs")) {
        return await use({ url, secondsToPage: (performance.now() - start) / 1000, output: () => output })
      }
      await sleep(10)
    }
    throw new Error(`the page did not answer in a minute: ${output}`)
  } finally {
    await stop(server)
  }
}
