/** A real browser: the system's Chromium, or the one of a package. */
import sparticuz from "@sparticuz/chromium"
import { existsSync, readFileSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { chromium, type Browser } from "playwright-core"

const SYSTEM = ["/usr/bin/chromium", "/usr/bin/chromium-browser"]

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  // One process draws and one renders all pages: a quarter of the usual memory.
  "--in-process-gpu",
  "--renderer-process-limit=1",
  "--disable-site-isolation-trials",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** Milliseconds that an action waits for its element, on a busy machine. */
export const PATIENCE = 60_000

const MODULES = join(import.meta.dirname, "../../node_modules")

/** Runs `start` with this temporary folder. */
const inFolder = <A>(folder: string, start: () => A): A => {
  const before = process.env["TMPDIR"]
  process.env["TMPDIR"] = folder
  try {
    return start()
  } finally {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
  }
}

/** Unpacks the package's Chromium, 200 MB, once for each version. Two processes may do so at once. */
const unpacked = async (): Promise<string> => {
  const { version } = JSON.parse(readFileSync(join(MODULES, "@sparticuz/chromium/package.json"), "utf8"))
  const folder = join(MODULES, ".cache", `chromium-${version}`)
  if (!existsSync(folder)) {
    await mkdir(dirname(folder), { recursive: true })
    const made = await mkdtemp(`${folder}-`)
    await inFolder(made, () => sparticuz.executablePath())
    await rename(made, folder).catch(async (cause: unknown) => {
      await rm(made, { recursive: true, force: true })
      if (!existsSync(folder)) throw cause
    })
  }
  return join(folder, "chromium")
}

const launch = async (): Promise<Browser> => {
  try {
    const executablePath = SYSTEM.find((path) => existsSync(path)) ?? (await unpacked())
    return await chromium.launch({ executablePath, args: FLAGS, timeout: PATIENCE })
  } catch (cause) {
    throw new Error("There is no browser. Install chromium, or see what @sparticuz/chromium needs.", {
      cause
    })
  }
}

let shared: Promise<Browser> | undefined

/**
 * The browser of this process, which ends with it. Close the contexts that you open: a start takes more than most tests.
 * Fails without a browser: a test that was not run has not passed.
 */
export const openChromium = async (): Promise<Browser> => {
  const browser = await shared
  if (browser?.isConnected() === true) return browser
  return (shared = launch())
}
