/** A real browser: the system's Chromium where there is one, else the one that a package carries. */
import sparticuz from "@sparticuz/chromium"
import { existsSync } from "node:fs"
import { chromium, type Browser } from "playwright-core"

const SYSTEM = ["/usr/bin/chromium", "/usr/bin/chromium-browser"]

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** Fails, and says so, when there is no browser: a test of the page that was not run has not passed. */
export const launchChromium = async (): Promise<Browser> => {
  try {
    const executablePath = SYSTEM.find((path) => existsSync(path)) ?? (await sparticuz.executablePath())
    return await chromium.launch({ executablePath, args: FLAGS })
  } catch (cause) {
    throw new Error("No browser can be had: install chromium, or see what @sparticuz/chromium needs here.", {
      cause
    })
  }
}
