/** The source beside an answer: where it is opened. */
import { assert, describe, it } from "vitest"
import { barriers } from "./accessible.ts"
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

    it("has a stop of the Tab key, with a name, where something scrolls and only there", async () => {
      const page = await visit.open("#documents")
      const row = (cell: string) => `| ${Array.from({ length: 12 }, () => cell).join(" | ")} |`
      const text = [
        "# Moorings",
        "| ring | rope |\n|---|---|\n| 1 | long |",
        `${row("ring")}\n${row("---")}\n${row("Unmovable")}`,
        "```\nmoor(1)\n```",
        `\`\`\`\nmoor(${"1, ".repeat(90)})\n\`\`\``
      ]
      const buffer = Buffer.from(`${text.join("\n\n")}\n`)
      await addFiles(page, { name: "moorings.md", mimeType: "text/markdown", buffer })
      await page.locator(".documents .open", { hasText: "Moorings" }).click()
      const panel = page.locator("aside.source")
      await panel.getByRole("group", { name: "Code" }).waitFor()
      assert.deepStrictEqual(
        await panel
          .locator(".wide")
          .evaluateAll((all) => all.map((each) => [each.role, each.ariaLabel, each.tabIndex])),
        [
          [null, null, -1],
          ["group", "Table", 0],
          [null, null, -1],
          ["group", "Code", 0]
        ]
      )
      assert.deepStrictEqual(await barriers(page), [])
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
