/** Who opens the page: a browser with a session, whose faults are noticed. */
import { afterAll, afterEach, assert, beforeAll } from "vitest"
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core"
import { launchChromium, PATIENCE } from "./chromium.ts"
import { startServer, type RunningServer } from "./server.ts"

export const DESKTOP = { width: 1440, height: 900 }
export const PHONE = { width: 390, height: 844 }

export interface Visitor {
  readonly server: RunningServer
  /** Opens the page at a hash, signed in, on a desktop; in a browser's profile of its own where options are given. */
  readonly open: (hash: string, options?: BrowserContextOptions) => Promise<Page>
  /** What a test provokes on purpose on the console. */
  readonly expect: (fault: RegExp) => void
}

/** One server and one browser for a file; after each test, none of its pages may have done what no page may do. */
export const visitor = (prepare: (page: Page) => Promise<void>): Visitor => {
  let server: RunningServer
  let browser: Browser
  let session: NonNullable<BrowserContextOptions["storageState"]>
  /** Of most tests, which begin it anew: a window costs more than all that most of them do. */
  let usual: Page
  const contexts: Array<BrowserContext> = []
  /** Errors on the console, requests to another host. */
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
    ;[server, browser] = await Promise.all([startServer(), launchChromium()])
    const context = await browser.newContext()
    context.setDefaultTimeout(PATIENCE)
    const page = await context.newPage()
    await page.goto(`${server.address}#login=${server.login}`)
    await page.getByLabel("Your question").waitFor()
    assert.strictEqual(page.url(), server.address, "the login is out of the address")
    await prepare(page)
    session = await context.storageState()
    await context.close()
    usual = await openWindow()
  })

  afterEach(async ({ task }) => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    // What a test that failed has left behind, routes and choices, is not the next one's.
    if (task.result?.state === "fail") {
      await usual.context().close()
      usual = await openWindow()
    } else {
      // Nor is what it has written.
      if (usual.url().startsWith(server.address)) await usual.evaluate("sessionStorage.clear()")
      await usual.goto("about:blank")
    }
    expected = undefined
    assert.deepStrictEqual(faults.splice(0), [])
  })

  afterAll(async () => {
    await browser?.close()
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
      // What a test looks for it waits for.
      await page.goto(`${server.address}${hash}`, { waitUntil: "commit" })
      return page
    }
  }
}

/** Adds the first files of a visit, and waits until nothing on the page moves for them any more. */
export const addFiles = async (page: Page, files: Parameters<Locator["setInputFiles"]>[0]): Promise<void> => {
  await page.locator("input[type=file]").first().setInputFiles(files)
  await page.locator(".uploads").getByRole("button", { name: "Clear" }).waitFor()
}

/** Asks, and waits for the answer. */
export const askFor = async (page: Page, question: string): Promise<void> => {
  await page.getByLabel("Your question").fill(question)
  await page.keyboard.press("Enter")
  // Until the address has changed, the answer before it stands there.
  const own = page.getByRole("heading", { level: 1, name: question, exact: true })
  await page.locator(".result[data-state=answered]").filter({ has: own }).waitFor()
}
