/** A conversation on the page: follow-ups, correction, edit, regenerate, rating, sharing, reload and a phone. */
import type { Route } from "playwright-core"
import { assert, describe, it } from "vitest"
import { addFiles, pageFixture, PHONE } from "../web/pageFixture.ts"

const RIVER = {
  name: "river.md",
  mimeType: "text/markdown",
  buffer: Buffer.from(
    "The mill is 12 metres high.\n\nThe mill was built in 1790.\n\nThe weir is 31 metres wide.\n\nThe weir was built in 1871.\n"
  )
}

const fixture = pageFixture(async (page) => {
  await page.goto(`${fixture.server.address}#documents`)
  await addFiles(page, RIVER)
})

describe("a conversation", () => {
  it("goes on with follow-ups, and outlasts a reload", async () => {
    const page = await fixture.open("#q=How+high+is+the+mill%3F")
    await page.locator(".answer", { hasText: "12 metres" }).waitFor()
    await page.getByLabel("Ask a follow-up").fill("And when was it built?")
    await page.getByLabel("Ask a follow-up").press("Enter")
    await page.getByText("Understood as: When was the mill built?").waitFor()
    const second = page.locator(".turn").nth(1)
    await second.locator(".answer", { hasText: "1790" }).waitFor()
    assert.strictEqual(await page.locator(".turn").count(), 2)

    await second.getByRole("button", { name: "Correct" }).click()
    await page.getByLabel("The question as it is to be understood").fill("When was the weir built?")
    await page.getByLabel("The question as it is to be understood").press("Enter")
    await second.locator(".answer", { hasText: "1871" }).waitFor()

    await second.getByRole("button", { name: "Good answer" }).click()
    await second.locator('[aria-pressed="true"]', { hasText: "Good" }).waitFor()
    await page.reload()
    await second.locator('[aria-pressed="true"]', { hasText: "Good" }).waitFor()
    await second.locator(".answer", { hasText: "1871" }).waitFor()

    await page.locator(".turn").first().getByRole("button", { name: "Edit" }).click()
    await page.getByLabel("The question", { exact: true }).fill("How wide is the weir?")
    await page.getByLabel("The question", { exact: true }).press("Enter")
    await page.locator(".turn").first().locator(".answer", { hasText: "31 metres" }).waitFor()
    assert.strictEqual(await page.locator(".turn").count(), 1)
    await page.getByRole("button", { name: "Regenerate" }).click()
    await page.getByRole("button", { name: "Regenerate" }).waitFor()
    assert.strictEqual(await page.locator(".turn").count(), 1)
  })

  it("has five turns that are stopped, edited, asked again, copied, renamed, shared and reloaded", async () => {
    const page = await fixture.open("#q=How+high+is+the+mill%3F")
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
    const turns = page.locator(".turn")
    const answers = page.locator(".turn .result[data-state=answered]")
    const ask = async (question: string) => {
      await page.getByLabel("Ask a follow-up").fill(question)
      await page.getByLabel("Ask a follow-up").press("Enter")
    }
    await page.locator(".answer", { hasText: "12 metres" }).waitFor()
    await ask("And when was it built?")
    await answers.nth(1).waitFor()
    await ask("How wide is the weir?")
    await answers.nth(2).waitFor()
    await ask("And when was it built?")
    await answers.nth(3).waitFor()

    const held = Promise.withResolvers<Route>()
    await page.route("**/qa", held.resolve)
    await ask("How high is the mill?")
    const request = await held.promise
    await page.getByRole("button", { name: "Stop" }).click()
    await turns.nth(4).getByText("You stopped this question.").waitFor()
    // Else the browser may send it when it is no longer held.
    await request.abort().catch(() => {})
    await page.unroute("**/qa")
    await turns.nth(4).getByRole("button", { name: "Regenerate" }).click()
    await answers.nth(4).waitFor()
    await turns.nth(4).getByRole("button", { name: "Edit" }).click()
    await page.getByLabel("The question", { exact: true }).fill("When was the mill built?")
    await page.getByLabel("The question", { exact: true }).press("Enter")
    await turns.nth(4).locator(".answer", { hasText: "1790" }).waitFor()

    await turns.nth(3).getByRole("button", { name: "Copy" }).first().click()
    await page.getByText("Copied the answer.").waitFor({ state: "attached" })
    assert.include(await page.evaluate<string>("navigator.clipboard.readText()"), "1871")
    await page.getByRole("button", { name: "Rename" }).click()
    await page.getByLabel("The title").fill("Mill and weir")
    await page.getByLabel("The title").press("Enter")
    await page.locator(".thread-title", { hasText: "Mill and weir" }).waitFor()
    await page.getByRole("button", { name: "Share" }).click()
    const html = await (await fetch(await page.locator(".thread code").first().innerText())).text()
    assert.include(html, "Mill and weir")
    await page.reload()
    await answers.nth(4).waitFor()
    await page.locator(".thread-title", { hasText: "Mill and weir" }).waitFor()
    assert.deepStrictEqual(await page.locator(".turn h1").allInnerTexts(), [
      "How high is the mill?",
      "And when was it built?",
      "How wide is the weir?",
      "And when was it built?",
      "When was the mill built?"
    ])

    assert.strictEqual(await page.locator(".keys:visible").count(), 1)
    await page.setViewportSize(PHONE)
    const top = async (name: string) =>
      (await turns.nth(4).getByRole("button", { name, exact: true }).boundingBox())?.y
    assert.strictEqual(await top("Edit"), await top("Bad answer"))
    assert.isTrue(await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth"))
  })

  it("keeps the turns that another tab asked", async () => {
    const page = await fixture.open("#q=How+high+is+the+mill%3F")
    const ask = async (on: typeof page, question: string) => {
      await on.getByLabel("Ask a follow-up").fill(question)
      await on.getByLabel("Ask a follow-up").press("Enter")
    }
    await ask(page, "How wide is the weir?")
    await page.locator(".turn .answer", { hasText: "31 metres" }).waitFor()
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.locator(".turn").nth(1).waitFor()
    await ask(page, "When was the weir built?")
    await page.locator(".turn .answer", { hasText: "1871" }).waitFor()
    await ask(other, "When was the mill built?")
    await other.locator(".turn .answer", { hasText: "1790" }).waitFor()
    await other.getByRole("button", { name: "Regenerate" }).last().click()
    await other.locator(".turn .result[data-state=answered]").nth(2).waitFor()
    // The turn is missing until the regenerated answer is stored.
    do {
      await page.reload()
      await page.locator(".turn").nth(2).waitFor()
    } while ((await page.locator(".turn").count()) < 4)
    assert.deepStrictEqual(await page.locator(".turn h1").allInnerTexts(), [
      "How high is the mill?",
      "How wide is the weir?",
      "When was the weir built?",
      "When was the mill built?"
    ])
    await other.close()
  })

  it("sends a follow-up again that found no server", async () => {
    fixture.expect(/ERR_INTERNET_DISCONNECTED/)
    const page = await fixture.open("#q=How+high+is+the+mill%3F")
    await page.locator(".answer", { hasText: "12 metres" }).waitFor()
    await page.getByLabel("Ask a follow-up").fill("How wide is the weir?")
    await page.getByLabel("Ask a follow-up").press("Enter")
    await page.locator(".turn .answer", { hasText: "31 metres" }).waitFor()
    await page.context().setOffline(true)
    await page.getByLabel("Ask a follow-up").fill("When was it built?")
    await page.getByLabel("Ask a follow-up").press("Enter")
    await page
      .getByRole("alert")
      .filter({ hasText: "Your question will be sent again automatically." })
      .waitFor()
    await page.context().setOffline(false)
    await page.locator(".turn .answer", { hasText: "1871" }).waitFor()
    assert.strictEqual(await page.locator(".turn").count(), 3)
  })

  it("shows the conversation of its address, also if another one loads later", async () => {
    const page = await fixture.open("#q=How+high+is+the+mill%3F")
    const begin = async (follow: string) => {
      await page.getByLabel("Ask a follow-up").fill(follow)
      await page.getByLabel("Ask a follow-up").press("Enter")
      await page.locator(".turn .result[data-state=answered]").nth(1).waitFor()
      return page.evaluate<string>("location.hash")
    }
    const first = await begin("How wide is the weir?")
    await page.evaluate('location.hash = "#q=How+wide+is+the+weir%3F"')
    await page.locator(".answer", { hasText: "31 metres" }).waitFor()
    const second = await begin("How high is the mill?")
    await page.evaluate('location.hash = "#ask"')
    const held = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const path = `**/conversations/${first.split("/")[1]}`
    await page.route(path, async (route) => {
      const response = await route.fetch()
      asked.resolve()
      await held.promise
      await route.fulfill({ response }).catch(() => {})
    })
    await page.evaluate(`location.hash = ${JSON.stringify(first)}`)
    await asked.promise
    await page.evaluate(`location.hash = ${JSON.stringify(second)}`)
    await page.locator(".turn").nth(1).waitFor()
    held.resolve()
    await page.unroute(path)
    await page.evaluate("new Promise((resolve) => setTimeout(resolve))")
    assert.strictEqual(await page.locator(".turn h1").first().innerText(), "How wide is the weir?")
  })

  it("is shared by a link that opens without a session, and removed", async () => {
    const page = await fixture.open("#q=How+wide+is+the+weir%3F")
    await page.getByLabel("Ask a follow-up").fill("And when was it built?")
    await page.getByLabel("Ask a follow-up").press("Enter")
    await page.getByRole("button", { name: "Share" }).click()
    const link = await page.locator(".thread code").first().innerText()
    const html = await (await fetch(link)).text()
    assert.include(html, "The weir is 31 metres wide.")
    const erase = page.getByRole("button", { name: "Delete", exact: true })
    await erase.click()
    await page.getByRole("button", { name: "Keep it" }).click()
    assert.strictEqual((await fetch(link)).status, 200)
    await erase.click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByRole("heading", { name: /Ask your documents/ }).waitFor()
    assert.strictEqual((await fetch(link)).status, 404)
  })

  it("fits a phone, in the dark", async () => {
    const page = await fixture.open("#q=How+wide+is+the+weir%3F", { viewport: PHONE, colorScheme: "dark" })
    await page.getByLabel("Ask a follow-up").fill("And when was it built?")
    await page.getByLabel("Ask a follow-up").press("Enter")
    await page.locator(".turn").nth(1).locator(".answer", { hasText: "1871" }).waitFor()
    assert.isTrue(await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth"))
  })
})
