/** The real server as a process, with embedded models, an empty data folder and a free port. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "vite"

const MAIN = fileURLToPath(new URL("../../apps/demo-server/src/main.ts", import.meta.url))
const WEB = fileURLToPath(new URL("../../apps/demo-server/src/web", import.meta.url))

/** Folders of the page's modules. */
const SOURCES = [
  WEB,
  ...["../contract", "../../../../packages/core/src/contract"].map((path) => join(WEB, path))
]

const BUILT = fileURLToPath(new URL("../../apps/demo-server/dist-web/index.html", import.meta.url))
/** It names the libraries of the page. */
const LOCK = fileURLToPath(new URL("../../package-lock.json", import.meta.url))

/** Milliseconds. */
const START_LIMIT = 60_000

export interface RunningServer {
  /** `http://127.0.0.1:PORT/` */
  readonly address: string
  /** The one-time login of the printed address. */
  readonly login: string
  /** Printed at the first start. */
  readonly apiKey: string
  /** Kills the process like a crash. The data stays until `close`. */
  readonly stop: () => Promise<void>
  /** Kills the process and removes its data. */
  readonly close: () => Promise<void>
}

const changed = async (path: string): Promise<number> => (await stat(path)).mtimeMs

/** Builds the page if its source is newer than the last build. */
const builtPage = async (): Promise<void> => {
  const files = async (folder: string) =>
    (await readdir(folder, { recursive: true })).map((name) => join(folder, name))
  const sources = (await Promise.all(SOURCES.map(files))).flat()
  const times = await Promise.all([...sources, LOCK].map(changed))
  const built = await changed(BUILT).catch(() => 0)
  if (Math.max(...times) >= built) await build({ root: WEB, logLevel: "error" })
}

/** Builds the page and starts the server. */
export const startServer = async (env: Readonly<Record<string, string>> = {}): Promise<RunningServer> => {
  await builtPage()
  const data = await mkdtemp(join(tmpdir(), "sluice-web-"))
  // Without the samples: reading them takes seconds, and uploads wait for them.
  await mkdir(join(data, "library"), { recursive: true })
  await writeFile(join(data, "library", "samples-read"), "")
  const child = spawn(process.execPath, ["--conditions=@sluice/source", MAIN], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      HOME: data,
      PORT: "0",
      SLUICE_DATA: join(data, "library"),
      ...env
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const stop = async () => {
    stopped = true
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, "exit")
    child.kill("SIGKILL")
    await exited
  }
  const close = async () => {
    await stop()
    await rm(data, { recursive: true, force: true })
  }
  let printed = ""
  let stopped = false
  child.once("exit", (code, signal) => {
    if (!stopped) console.error(`The server ended with ${signal ?? code}:\n${printed.slice(-4000)}`)
  })
  const started = new Promise<RunningServer>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The server did not start:\n${printed}`)), START_LIMIT)
    const read = (chunk: Buffer) => {
      printed += chunk.toString()
      const [, address, login] = /(http:\S+\/)#login=(\w{48})/.exec(printed) ?? []
      const apiKey = /API key\s+(sk-\w{48})/.exec(printed)?.[1]
      if (address === undefined || login === undefined || apiKey === undefined) return
      clearTimeout(timer)
      resolve({ address, login, apiKey, stop, close })
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    child.once("exit", () => {
      clearTimeout(timer)
      reject(new Error("The server ended before it had started"))
    })
  })
  return started.catch(async (failure: unknown) => {
    await close()
    throw failure
  })
}
