/** The source beside an answer: where it is opened. */
import { assert, describe, it } from "vitest"
import { QUESTION } from "./harbour.ts"
import { addFiles, askFor, PHONE, type Visitor } from "./visitor.ts"

const MIDDLE = 40

/** Its paragraphs are longer than the page takes those for that it has not drawn yet. */
const LONG = Array.from({ length: 2 * MIDDLE }, (_, at) =>
  at === MIDDLE
    ? "The capstan weighs seventy-one stone."
    : `Log ${at}: ${"the water rises slowly while the keeper counts the boats. ".repeat((at % 6) + 6)}`
)

/** Waits until the quote is within the window, below the panel's head. */
const QUOTE_SEEN = `new Promise((resolve) => {
  const look = () => {
    const { bottom, top } = document.querySelector("aside.source mark").getBoundingClientRect()
    const head = document.querySelector(".source-head").getBoundingClientRect().bottom
    if (top > head && bottom < innerHeight) resolve()
    else requestAnimationFrame(look)
  }
  // Not before the panel has been drawn once.
  requestAnimationFrame(() => requestAnimationFrame(look))
})`

export const sourceTests = (visit: Visitor): void => {
  describe("the source", () => {
    it("is opened at the quote, far down between long paragraphs", async () => {
      // While the panel comes in, the browser does not hold what is in view where it is.
      const page = await visit.open("#documents", { reducedMotion: "no-preference" })
      const text = `# The capstan\n\n${LONG.join("\n\n")}\n`
      await addFiles(page, { name: "capstan.md", mimeType: "text/markdown", buffer: Buffer.from(text) })
      await page.locator(".brand").click()
      await askFor(page, "How much does the capstan weigh?")
      await page.locator(".answer .citation").first().click()
      await page.locator("aside.source mark").first().waitFor()
      await page.evaluate(QUOTE_SEEN)
    })

    it("is closed by a step back where it covers the page", async () => {
      const page = await visit.open("", { viewport: PHONE })
      await askFor(page, QUESTION)
      const panel = page.locator("aside.source")
      const citation = page.locator(".answer .citation").first()
      await citation.click()
      await panel.waitFor()
      await page.goBack()
      await panel.waitFor({ state: "detached" })
      assert.strictEqual(await page.locator(".result h1").innerText(), QUESTION)
      assert.isTrue(await citation.evaluate((button) => button.matches(":focus")))
      await citation.click()
      await page.getByRole("button", { name: "Close the source" }).click()
      await panel.waitFor({ state: "detached" })
      await page.evaluate(
        `new Promise((done) => history.state === null ? done() : addEventListener("popstate", done))`
      )
      await page.goBack()
      await page.locator(".welcome").waitFor()
    })
  })
}
