/** The source panel. */
import { assert, describe, it } from "vitest"
import { accessibilityViolations } from "./pageScripts.ts"
import { QUESTION } from "./harbour.ts"
import { addFiles, askFor, PHONE, type PageFixture } from "./pageFixture.ts"

const MIDDLE = 40

/** Its paragraphs are longer than the height that the page assumes before it draws them. */
const LONG = Array.from({ length: 2 * MIDDLE }, (_, at) =>
  at === MIDDLE
    ? "The capstan weighs seventy-one stone."
    : `Log ${at}: ${"the water rises slowly while the keeper counts the boats. ".repeat((at % 6) + 6)}`
)

/** Waits until the quote is in view, below the panel's head. */
const QUOTE_SEEN = `new Promise((resolve) => {
  const look = () => {
    const { bottom, top } = document.querySelector("aside.source mark").getBoundingClientRect()
    const head = document.querySelector(".source-head").getBoundingClientRect().bottom
    if (top > head && bottom < innerHeight) resolve()
    else requestAnimationFrame(look)
  }
  // After the first drawing of the panel.
  requestAnimationFrame(() => requestAnimationFrame(look))
})`

export const sourceTests = (fixture: PageFixture): void => {
  describe("the source panel", () => {
    it("opens at a quote far down in a long document", async () => {
      // During the animation of the panel the browser does not anchor its scroll position.
      const page = await fixture.open("#documents", { reducedMotion: "no-preference" })
      const text = `# The capstan\n\n${LONG.join("\n\n")}\n`
      await addFiles(page, { name: "capstan.md", mimeType: "text/markdown", buffer: Buffer.from(text) })
      await page.locator(".brand").click()
      await askFor(page, "How much does the capstan weigh?")
      await page.locator(".answer .citation").first().click()
      await page.locator("aside.source mark").first().waitFor()
      await page.evaluate(QUOTE_SEEN)
    })

    it("summarises the document, and shows the source of each sentence", async () => {
      const page = await fixture.open("#documents")
      const text =
        "# The lighthouse\n\nThe lighthouse has a lamp of copper. The lamp of the lighthouse turns once a minute.\n"
      await addFiles(page, { name: "light.md", mimeType: "text/markdown", buffer: Buffer.from(text) })
      await page.locator(".documents .open", { hasText: "The lighthouse" }).click()
      const panel = page.locator("aside.source")
      await panel.getByRole("button", { name: "Summarise" }).click()
      await panel.locator(".summary li", { hasText: "turns once a minute" }).getByRole("button").click()
      const mark = panel.locator("mark", { hasText: "turns once a minute" })
      await mark.first().waitFor()
      assert.include(await panel.locator(".summary").innerText(), "no model wrote this summary")
      assert.deepStrictEqual(await accessibilityViolations(page), [])
    })

    it("makes only scrolling boxes stops of the Tab key", async () => {
      const page = await fixture.open("#documents")
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
      assert.deepStrictEqual(await accessibilityViolations(page), [])
    })

    it("closes on a step back on a phone", async () => {
      const page = await fixture.open("", { viewport: PHONE })
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

  describe("text direction", () => {
    it("shows each script in its own direction", async () => {
      const page = await fixture.open("#documents")
      const log = "# יומן הסירה\n\n- עוגנת בנמל (שעתיים)\n- יוצאת\n"
      await addFiles(page, { name: "יומן.md", mimeType: "text/markdown", buffer: Buffer.from(log) })
      await page.locator(".documents .open", { hasText: "יומן הסירה" }).click()
      await page.locator("aside.source li").first().waitFor()
      const direction = `getComputedStyle(document.querySelector("aside.source li")).direction`
      assert.strictEqual(await page.evaluate<string>(direction), "rtl", "the bullet is on the right")
      await page.keyboard.press("Escape")
      await page.locator(".brand").click()
      await askFor(page, "כמה שעות עוגנת הסירה?")
      const [first = 0, mark = 0] = await page.evaluate<ReadonlyArray<number>>(`[0, 20].map((at) => {
        const range = document.createRange()
        range.setStart(document.querySelector(".result h1").firstChild, at)
        range.setEnd(range.startContainer, at + 1)
        return range.getBoundingClientRect().x
      })`)
      assert.isBelow(mark, first, "the question mark is on the left, at the end")
    })
  })
}
