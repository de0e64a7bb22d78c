/** Scripts that run from right to left, in a document and in a question. */
import { assert, describe, it } from "vitest"
import { addFiles, askFor, type Visitor } from "./visitor.ts"

export const writingTests = (visit: Visitor): void => {
  describe("writing", () => {
    it("writes each script in its own direction", async () => {
      const page = await visit.open("#documents")
      const log = "# יומן הסירה\n\n- עוגנת בנמל (שעתיים)\n- יוצאת\n"
      await addFiles(page, { name: "יומן.md", mimeType: "text/markdown", buffer: Buffer.from(log) })
      await page.locator(".documents .open", { hasText: "יומן הסירה" }).click()
      await page.locator("aside.source li").first().waitFor()
      const direction = `getComputedStyle(document.querySelector("aside.source li")).direction`
      assert.strictEqual(await page.evaluate<string>(direction), "rtl", "its mark stands on the right")
      await page.keyboard.press("Escape")
      await page.locator(".brand").click()
      await askFor(page, "כמה שעות עוגנת הסירה?")
      const [first = 0, mark = 0] = await page.evaluate<ReadonlyArray<number>>(`[0, 20].map((at) => {
        const range = document.createRange()
        range.setStart(document.querySelector(".result h1").firstChild, at)
        range.setEnd(range.startContainer, at + 1)
        return range.getBoundingClientRect().x
      })`)
      assert.isBelow(mark, first, "the question mark stands at the end, on the left")
    })
  })
}
