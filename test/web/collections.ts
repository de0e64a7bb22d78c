/** Collections: created, chosen, searched separately, and deleted. */
import { assert, describe, it } from "vitest"
import { QUESTION } from "./harbour.ts"
import { askFor, type PageFixture } from "./pageFixture.ts"
import { sharingTests } from "./sharing.ts"

export const collectionTests = (fixture: PageFixture): void => {
  sharingTests(fixture)
  describe("collections", () => {
    it("searches each collection separately", async () => {
      const page = await fixture.open("#documents")
      const named = async (): Promise<ReadonlyArray<string>> => {
        const headers = { authorization: `Bearer ${fixture.server.apiKey}` }
        const response = await fetch(`${fixture.server.address}collections`, { headers })
        const { collections } = (await response.json()) as { collections: ReadonlyArray<{ name: string }> }
        return collections.map(({ name }) => name)
      }
      await page.locator(".documents li").first().waitFor()
      await page.getByRole("button", { name: "New collection" }).click()
      assert.strictEqual(await page.evaluate<string>("document.activeElement.tagName"), "INPUT")
      await page.keyboard.type("winter")
      await page.keyboard.press("Enter")
      const choice = page.getByLabel("Collection", { exact: true })
      await page.getByText("Add documents to start.").waitFor()
      assert.strictEqual(await choice.inputValue(), "winter")
      await page.getByRole("link", { name: "Ask", exact: true }).click()
      await askFor(page, QUESTION)
      const nothing = "There are no documents yet. Add documents, and ask again."
      assert.strictEqual((await page.locator(".no-answer").innerText()).replaceAll(/\s+/g, " "), nothing)
      await page.locator(".no-answer").getByRole("link", { name: "Add documents" }).click()
      const gates = "# Gates\n\nIn winter ninety oak planks close the north gate.\n"
      const file = { name: "harbour.md", mimeType: "text/markdown", buffer: Buffer.from(gates) }
      await page.locator("input[type=file]").first().setInputFiles([file])
      await page.locator(".documents li", { hasText: "Gates" }).waitFor()
      await page.getByRole("link", { name: "Ask", exact: true }).click()
      await askFor(page, QUESTION)
      assert.include(await page.locator(".answer").innerText(), "ninety")
      assert.match(page.url(), /[&]in=winter$/)
      await page.locator(".answer .citation").first().click()
      await page.locator("aside.source mark", { hasText: "ninety oak planks" }).waitFor()
      await page.keyboard.press("Escape")

      // The same question about another collection is another question.
      await choice.selectOption("default")
      await askFor(page, QUESTION)
      await page.locator(".answer", { hasText: "Seventeen" }).waitFor()
      await page.goBack()
      await page.locator(".answer", { hasText: "ninety" }).waitFor()
      assert.strictEqual(await choice.inputValue(), "winter")

      // “Ask again” uses the same collection, whatever is chosen now.
      fixture.expect(/503/)
      await page.route("**/qa", (route) => route.fulfill({ status: 503 }), { times: 1 })
      await page.getByLabel("Your question").fill("What closes the north gate in winter?")
      await page.keyboard.press("Enter")
      const again = page.getByRole("button", { name: "Ask again" })
      await again.waitFor()
      await choice.selectOption("default")
      await again.click()
      await page.locator(".answer", { hasText: "ninety" }).waitFor()
      await choice.selectOption("winter")

      await page.getByRole("link", { name: "Documents", exact: true }).click()
      await page.getByRole("button", { name: "Delete winter" }).click()
      await page.locator(".confirm", { hasText: "with 1 document? This can’t be undone." }).waitFor()
      await page.keyboard.press("Enter") // on “Keep it”
      await page.locator(".confirm").waitFor({ state: "hidden" })
      assert.include(await named(), "winter")
      await page.getByRole("button", { name: "Delete winter" }).click()
      await page.getByRole("button", { name: "Delete", exact: true }).click()
      await page.getByText("The collection winter was deleted.").waitFor({ state: "attached" })
      await page.locator(".documents li", { hasText: "The harbour" }).waitFor()
      assert.deepStrictEqual(await named(), ["default"])
      await page.reload()
      await page.locator(".documents li", { hasText: "The harbour" }).waitFor()
    })
  })
}
