/** A browser that is signed in to a server, and collects faults. */
import { afterAll, afterEach, assert, beforeAll } from "vitest"
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core"
import { openChromium, PATIENCE } from "./chromium.ts"
import { startServer, type RunningServer } from "./server.ts"

export const DESKTOP = { width: 1440, height: 900 }
export const PHONE = { width: 390, height: 844 }

export interface PageFixture {
  readonly server: RunningServer
  /** Opens the page at a hash, signed in, on a desktop. With options it uses a browser profile of its own. */
  readonly open: (hash: string, options?: BrowserContextOptions) => Promise<Page>
  /** An expected error of the console. */
  readonly expect: (fault: RegExp) => void
}

/** One server for a test file. After each test there must be no fault. */
export const pageFixture = (
  prepare: (page: Page) => Promise<void>,
  environment: () => Promise<Readonly<Record<string, string>>> = async () => ({})
): PageFixture => {
  let server: RunningServer
  let browser: Browser
  let session: NonNullable<BrowserContextOptions["storageState"]>
  /** Shared by most tests, each of which loads the page: a new window takes longer than most tests. */
  let usual: Page
  const contexts: Array<BrowserContext> = []
  /** Errors on the console, and requests to other hosts. */
  const faults: Array<string> = []
  let expected: RegExp | undefined

  const newContext = async (options: BrowserContextOptions): Promise<BrowserContext> => {
    const context = await browser.newContext({
      viewport: DESKTOP,
      reducedMotion: "reduce",
      storageState: session,
      ...options
    })
    context.setDefaultTimeout(PATIENCE)
    context.on("request", (request) => {
      const { origin, protocol } = new URL(request.url())
      if (/^(data|blob):$/.test(protocol) || origin === new URL(server.address).origin) return
      faults.push(request.url())
    })
    context.on("console", (message) => {
      const text = `${message.text()} ${message.location().url}`
      if (message.type() === "error" && expected?.test(text) !== true) faults.push(text)
    })
    context.on("weberror", (error) => faults.push(error.error().message))
    return context
  }

  const openWindow = async (): Promise<Page> => (await newContext({})).newPage()

  beforeAll(async () => {
    ;[server, browser] = await Promise.all([environment().then(startServer), openChromium()])
    const context = await browser.newContext()
    context.setDefaultTimeout(PATIENCE)
    const page = await context.newPage()
    await page.goto(`${server.address}#login=${server.login}`)
    await page.getByLabel("Your question").waitFor()
    assert.strictEqual(page.url(), server.address, "the login is removed from the address")
    await prepare(page)
    session = await context.storageState()
    await context.close()
    usual = await openWindow()
  })

  afterEach(async ({ task }) => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    // A failed test may leave routes and choices behind.
    if (task.result?.state === "fail") {
      const shown = usual.locator("body").innerText({ timeout: 1000 })
      console.error(`The page of “${task.name}” shows:\n${await shown.catch(String)}`)
      await usual.context().close()
      usual = await openWindow()
    } else {
      await usual.unrouteAll({ behavior: "ignoreErrors" })
      if (usual.url().startsWith(server.address)) await usual.evaluate("sessionStorage.clear()")
      await usual.goto("about:blank")
    }
    expected = undefined
    assert.deepStrictEqual(faults.splice(0), [])
  })

  afterAll(async () => {
    await usual?.context().close()
    await server?.close()
  })

  return {
    get server() {
      return server
    },
    expect: (fault) => {
      expected = fault
    },
    open: async (hash, options) => {
      const context = options === undefined ? undefined : await newContext(options)
      if (context !== undefined) contexts.push(context)
      const page = context === undefined ? usual : await context.newPage()
      await page.mouse.move(0, 0)
      // Each test waits for the elements that it needs.
      await page.goto(`${server.address}${hash}`, { waitUntil: "commit" })
      return page
    }
  }
}

/** Adds files and waits until they are read. */
export const addFiles = async (page: Page, files: Parameters<Locator["setInputFiles"]>[0]): Promise<void> => {
  await page.locator("input[type=file]").first().setInputFiles(files)
  await page.locator(".uploads").getByRole("button", { name: "Clear" }).waitFor()
}

/** Asks a question and waits for its answer. */
export const askFor = async (page: Page, question: string): Promise<void> => {
  await page.getByLabel("Your question").fill(question)
  await page.keyboard.press("Enter")
  // Until the address changes, the previous answer is shown.
  const own = page.getByRole("heading", { level: 1, name: question, exact: true })
  await page.locator(".result[data-state=answered]").filter({ has: own }).waitFor()
}
