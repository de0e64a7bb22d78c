/** Failures: the page reports them and keeps what was written. */
import type { Page } from "playwright-core"
import { assert, describe, it } from "vitest"
import { HARBOUR, QUESTION } from "./harbour.ts"
import { addFiles, askFor, type PageFixture } from "./pageFixture.ts"

const files = (names: ReadonlyArray<string>) =>
  names.map((name) => ({
    name: `${name}.md`,
    mimeType: "text/markdown",
    buffer: Buffer.from(`# ${name}\n\nThe ${name} lies at the quay.\n`)
  }))

/** The next question gets no answer until the page aborts it. */
const NEVER_ANSWERED = `{
  const originalFetch = fetch
  fetch = (path, options) => path !== "/qa" ? originalFetch(path, options) : new Promise((_, reject) => {
    fetch = originalFetch
    options.signal.addEventListener("abort", () => reject(options.signal.reason))
  })
}`

/** Runs `act` while the page is offline. */
const offline = async (page: Page, act: () => Promise<void>): Promise<void> => {
  await page.context().setOffline(true)
  await act().finally(() => page.context().setOffline(false))
}

export const failureTests = (fixture: PageFixture): void => {
  describe("failures", () => {
    it("shows the closest passages where no answer is sure, with the question's words marked", async () => {
      const page = await fixture.open("")
      await askFor(page, "Who invented the harbour?")
      await page
        .locator(".closest mark", { hasText: /harbour/i })
        .first()
        .waitFor()
      assert.match(await page.locator(".no-answer").innerText(), /No sure answer\. Closest passages:/)
      await page.locator(".closest button").first().click()
      await page.locator("aside.source").waitFor()
    })

    it("sends files again that did not reach the server", async () => {
      fixture.expect(/ERR_INTERNET_DISCONNECTED/)
      const page = await fixture.open("#documents")
      await page.locator(".documents li").first().waitFor()
      await offline(page, async () => {
        await page
          .locator("input[type=file]")
          .first()
          .setInputFiles(files(["pontoon", "dinghy"]))
        await page.locator(".uploads-head", { hasText: "2 files not sent" }).waitFor()
        await page.locator(".notice", { hasText: "does not respond" }).waitFor()
      })
      await page.locator(".notice", { hasText: "does not respond" }).waitFor({ state: "detached" })
      await page.getByRole("button", { name: "Send again" }).click()
      await page.locator(".uploads-head", { hasText: /^2 files read/ }).waitFor()
      await page.locator(".documents li", { hasText: "dinghy.md" }).waitFor()
    })

    it("removes documents one by one with undo, and all after confirmation", async () => {
      const page = await fixture.open("#documents")
      const names = ["skiff-1", "skiff-2", "skiff-3", ...Array.from({ length: 12 }, (_, at) => `punt-${at}`)]
      await addFiles(page, files(names))
      const find = page.getByLabel("Find a document by name")
      await find.fill("skiff")
      const rows = page.locator(".documents li")
      const counts = async (count: number) => page.getByText(`${count} documents, `).waitFor()
      await counts(3)
      await page.getByRole("button", { name: "Remove skiff-1" }).press("Enter")
      await counts(2)
      await page.locator("[aria-label='Remove skiff-2']:focus").waitFor()
      await page.keyboard.press("Enter")
      await rows.filter({ hasText: "skiff-2" }).waitFor({ state: "detached" })
      await page.locator(".undo", { hasText: "skiff-2 and 1 more" }).waitFor()
      await page.getByRole("button", { name: "Undo" }).click()
      await counts(2)
      await page.getByRole("button", { name: "Undo" }).press("Enter")
      await counts(3)
      assert.strictEqual(await page.evaluate<string>("document.activeElement.id"), "main")
      await find.fill("no such boat")
      await page.getByText("No matching name").waitFor()
      await find.fill("skiff")
      await page.getByRole("button", { name: "Remove all 3" }).click()
      await page.keyboard.press("Enter") // on “Keep them”
      await page.locator(".confirm").waitFor({ state: "hidden" })
      assert.strictEqual(await rows.count(), 3)
      await page.getByRole("button", { name: "Remove all 3" }).click()
      await page.getByRole("button", { name: "Remove all", exact: true }).press("Enter")
      await page.getByText("No matching name").waitFor()
      assert.isTrue(await find.evaluate((input) => input.matches(":focus")))
      await find.fill("punt")
      await page.getByRole("button", { name: "Remove all 12" }).click()
      await page.getByRole("button", { name: "Remove all", exact: true }).click()
      await page.getByText("12 documents removed.").waitFor({ state: "attached" })
      await find.fill("")
      await rows.filter({ hasText: "The harbour" }).waitFor()
    })

    it("repeats a question that found no server, and stops a slow one", async () => {
      fixture.expect(/ERR_INTERNET_DISCONNECTED/)
      const page = await fixture.open("")
      const box = page.getByLabel("Your question")
      await box.fill(QUESTION)
      await offline(page, async () => {
        await page.keyboard.press("Enter")
        await page
          .getByRole("alert")
          .filter({ hasText: "Your question will be sent again automatically." })
          .waitFor()
      })
      await page.locator(".result[data-state=answered]").waitFor()
      await page.evaluate(NEVER_ANSWERED)
      await box.fill("Who keeps the lamp?")
      await page.keyboard.press("Enter")
      await page.getByText("Searching passages").waitFor()
      await page.getByRole("button", { name: "Stop" }).click()
      await page.getByRole("alert").filter({ hasText: "You stopped this question." }).waitFor()
      await page.getByRole("button", { name: "Ask again" }).click()
      await page.locator(".result[data-state=answered]").waitFor()
    })

    it("waits for a failing server without asking for a key", async () => {
      fixture.expect(/50[023]/)
      const page = await fixture.open("")
      const box = page.getByLabel("Your question")
      await box.waitFor()
      let failing: readonly [path: string, status: number] | undefined
      await page.route(/(session|status)$/, (route) => {
        const [path = "/", status = 200] = failing ?? []
        return route.request().url().endsWith(path) ? route.fulfill({ status }) : route.continue()
      })
      for (const [path, status] of [
        ["session", 503],
        ["session", 502],
        ["status", 500]
      ] as const) {
        failing = [path, status]
        await page.reload({ waitUntil: "commit" })
        await page
          .getByRole("alert")
          .filter({ hasText: `${status}` })
          .waitFor()
        failing = undefined
        await box.waitFor()
      }
      await page.unrouteAll()
    })

    it("keeps drafts over a reload until sign-out", async () => {
      // An API key cannot manage the account.
      fixture.expect(/40[13]/)
      const page = await fixture.open("", { storageState: { cookies: [], origins: [] } })
      const signIn = async () => {
        await page.locator("#key:focus").waitFor()
        await page.keyboard.type(fixture.server.apiKey)
        await page.keyboard.press("Enter")
      }
      await signIn()
      const box = page.getByLabel("Your question")
      await box.fill("How many boats")
      await page.goto(`${fixture.server.address}#playground/rerank`)
      const fields = [page.getByLabel("Question"), page.getByLabel("Documents")]
      for (const field of fields) await field.fill("Boats, 船")
      await page.reload()
      for (const field of fields) assert.strictEqual(await field.inputValue(), "Boats, 船")
      await page.locator(".brand").click()
      assert.strictEqual(await box.inputValue(), "How many boats")
      await page.getByRole("link", { name: "Account", exact: true }).click()
      await page.getByRole("button", { name: "Sign out" }).click()
      await signIn()
      assert.strictEqual(await box.inputValue(), "")
    })

    it("ignores stored values of another type", async () => {
      const page = await fixture.open("#playground/embed")
      const first = page.getByLabel("First text")
      await first.fill("Boats, 船")
      // The name of the tab's user is a text: another one would clear the tab.
      const fields = `Object.keys(sessionStorage).filter((key) => key !== "sluice user")`
      await page.evaluate(`for (const key of ${fields}) sessionStorage.setItem(key, "7")`)
      await page.reload()
      await first.waitFor()
      assert.notInclude(["", "7", "Boats, 船"], await first.inputValue())
      await page.locator(".brand").click()
      assert.strictEqual(await page.getByLabel("Your question").inputValue(), "")
    })

    for (const way of ["the same page", "a reload"]) {
      it(`hides one user's drafts and question from the next in the same tab, after ${way}`, async () => {
        fixture.expect(/401/)
        const page = await fixture.open("#documents", {})
        await page.locator(".documents li").first().waitFor()
        const name = `eve${way.length}`
        const token = await page.evaluate<string>(`(async () => {
        const body = JSON.stringify({ username: "${name}", quota: 0, role: "user" })
        const headers = { "content-type": "application/json" }
        return (await (await fetch("/api/user", { method: "POST", headers, body })).json()).data.access_token
      })()`)
        await page.goto(`${fixture.server.address}#${new URLSearchParams({ q: QUESTION }).toString()}`)
        await page.locator(".result[data-state=answered]").waitFor()
        const box = page.getByLabel("Your question")
        await box.fill("How many boats")
        await page.context().clearCookies()
        if (way === "a reload") await page.reload()
        else await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`)
        const begun = page.waitForEvent("load")
        await page.getByLabel("API key").fill(token)
        await page.keyboard.press("Enter")
        await begun
        await page.getByRole("link", { name: "Account", exact: true }).click()
        await page.getByText(`Signed in as ${name}.`).waitFor()
        await page.locator(".brand").click()
        assert.strictEqual(await box.inputValue(), "")
        const kept = await page.evaluate<ReadonlyArray<string>>(`Object.entries(sessionStorage)
        .filter(([, value]) => value.includes("How many boats")).map(([key]) => key)`)
        assert.deepStrictEqual(kept, [])
        assert.notInclude(page.url(), "q=")
      })
    }

    const addBarge = async (page: Page): Promise<void> => {
      await page.locator(".documents li").first().waitFor()
      // The upload is under way until the page is closed.
      await page.route("**/documents", (route) =>
        route.request().method() === "POST" ? undefined : route.continue()
      )
      await page.locator("body").click()
      await page
        .locator("input[type=file]")
        .first()
        .setInputFiles(files(["barge"]))
      await page
        .locator(".uploads")
        .getByText("reading")
        .or(page.locator(".uploads").getByText("sending"))
        .waitFor()
    }

    it("asks once before it signs out during an upload", async () => {
      fixture.expect(/40[13]/)
      const page = await fixture.open("", { storageState: { cookies: [], origins: [] } })
      await page.locator("#key:focus").waitFor()
      await page.keyboard.type(fixture.server.apiKey)
      await page.keyboard.press("Enter")
      await page.getByLabel("Your question").fill("How many boats")
      await page.getByRole("link", { name: "Documents", exact: true }).click()
      await addBarge(page)
      await page.getByRole("link", { name: "Account", exact: true }).click()
      const out = page.getByRole("button", { name: "Sign out of this browser" })
      await out.click()
      await page.getByRole("button", { name: "Continue uploading" }).click()
      assert.isAbove(await page.evaluate<number>("sessionStorage.length"), 0)
      let dialogs = 0
      page.on("dialog", (dialog) => {
        dialogs++
        void dialog.accept()
      })
      await out.click()
      await page.getByRole("button", { name: "Sign out", exact: true }).click()
      await page.getByLabel("API key").waitFor()
      assert.strictEqual(dialogs, 0)
      assert.strictEqual(await page.evaluate<number>("sessionStorage.length"), 0)
    })

    it("asks before it is closed during an upload", async () => {
      const page = await fixture.open("#documents")
      await addBarge(page)
      const shown = page.waitForEvent("dialog")
      const reloaded = page.reload()
      const dialog = await shown
      assert.strictEqual(dialog.type(), "beforeunload")
      await dialog.accept()
      await reloaded
    })

    it("counts the documents as soon as somebody signs in", async () => {
      fixture.expect(/401/)
      const page = await fixture.open("", { storageState: { cookies: [], origins: [] } })
      // Without the polling of a server that is ready.
      await page.addInitScript(`{
        const set = window.setTimeout
        window.setTimeout = (run, after, ...given) => (after < 30_000 ? set(run, after, ...given) : 0)
      }`)
      await page.reload()
      await page.getByLabel("API key").fill(fixture.server.apiKey)
      await page.keyboard.press("Enter")
      const size = page.locator(".library-size")
      await size.waitFor({ timeout: 20_000 })
      assert.match(await size.innerText(), /^\d+ documents?, \d+ passages?\./)
    })

    it("says once that the documents need a rebuild, with the button", async () => {
      fixture.expect(/409/)
      const page = await fixture.open("")
      await page.locator(".library-size").waitFor()
      await page.route(/status$/, async (route) => {
        const json = await (await route.fetch()).json()
        await route.fulfill({ json: { ...json, state: "rebuild-needed", message: "call `POST /rebuild`" } })
      })
      const error = {
        message: "call `POST /rebuild`",
        type: "invalid",
        param: null,
        code: "manifest_mismatch"
      }
      await page.route(/documents$|qa$/, (route) => route.fulfill({ status: 409, json: { error } }))
      await page.reload()
      await page.getByRole("button", { name: "Rebuild now" }).waitFor()
      assert.match(await page.locator(".notice").innerText(), /indexed again for the new model \(\d+\)/)
      assert.match(await page.locator(".library-size").innerText(), /^\d+ document/)
      await page.getByLabel("Your question").fill(QUESTION)
      await page.keyboard.press("Enter")
      await page.getByRole("button", { name: "Ask again" }).waitFor()
      await page.getByRole("link", { name: "Documents", exact: true }).click()
      await page.locator(".library").waitFor()
      await page.locator(".library .loading").waitFor({ state: "detached" })
      assert.notInclude(await page.locator("body").innerText(), "POST /rebuild")
      assert.strictEqual(await page.locator(".library .trouble").count(), 0)
    })

    it("says what to do with damaged documents", async () => {
      const page = await fixture.open("")
      await page.route(/status$/, async (route) => {
        const json = await (await route.fetch()).json()
        await route.fulfill({
          json: { ...json, state: "damaged", message: "Restore the folder from a copy." }
        })
      })
      await page.reload()
      const notice = page.locator(".notice", { hasText: "Your documents are damaged." })
      await notice.waitFor()
      assert.include(await notice.innerText(), "Restore the folder from a copy.")
    })

    it("keeps drafts when the session ends", async () => {
      fixture.expect(/401/)
      const page = await fixture.open("", { storageState: { cookies: [], origins: [] } })
      const signIn = async () => {
        await page.locator("#key:focus").waitFor()
        await page.keyboard.type(fixture.server.apiKey)
        await page.keyboard.press("Enter")
      }
      await signIn()
      const box = page.getByLabel("Your question")
      await box.fill("How many boats")
      await page.evaluate(`fetch("/session", { method: "DELETE" }).then(() =>
        document.dispatchEvent(new Event("visibilitychange")))`)
      await page.getByRole("heading", { name: "Your session has ended" }).waitFor()
      assert.isTrue(await box.isHidden())
      await signIn()
      await box.waitFor()
      assert.strictEqual(await box.inputValue(), "How many boats")
      await page.getByRole("link", { name: "Documents", exact: true }).click()
      await page.locator(".documents li", { hasText: HARBOUR.name }).first().waitFor()
      await page.locator(".brand").click()
      assert.strictEqual(await box.inputValue(), "How many boats")
      await box.fill(QUESTION)
      // Immediately: another request would notice the end of the session first.
      await page.evaluate(`fetch("/session", { method: "DELETE" }).then(() =>
        document.querySelector("#question").form.requestSubmit())`)
      await page.getByRole("heading", { name: "Your session has ended" }).waitFor()
      await signIn()
      await page.locator(".result[data-state=answered]").waitFor()
    })
  })
}
