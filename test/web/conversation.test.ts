/** A conversation on the page: follow-ups, correction, edit, regenerate, rating, sharing, reload and a phone. */
import { assert, describe, it } from "vitest"
import { addFiles, pageFixture, PHONE } from "./pageFixture.ts"

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
    await page.reload()
    await page.locator(".turn").nth(3).waitFor()
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
    await page.getByRole("button", { name: "Delete" }).click()
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
