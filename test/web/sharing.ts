/** A collection shared on the page in three clicks, and what a member sees. */
import { assert, describe, it } from "vitest"
import type { PageFixture } from "./pageFixture.ts"

export const sharingTests = (fixture: PageFixture): void => {
  describe("a shared collection", () => {
    it("is shared in three clicks, read by its member, and ends with the membership", async () => {
      const page = await fixture.open("#documents")
      const token = await page.evaluate<string>(`(async () => {
        const body = JSON.stringify({ username: "Ann", quota: 0, role: "user" })
        const headers = { "content-type": "application/json" }
        return (await (await fetch("/api/user", { method: "POST", headers, body })).json()).data.access_token
      })()`)
      await page.locator(".documents li").first().waitFor()
      // Click 1, a name, click 2.
      await page.getByRole("button", { name: "Share", exact: true }).click()
      await page.keyboard.type("Ann")
      await page.getByRole("button", { name: "Share", exact: true }).last().click()
      const members = page.getByRole("list", { name: "Members" })
      await members.getByText("Ann").waitFor()
      await page.getByRole("button", { name: "Shared with 1" }).waitFor()

      fixture.expect(/40[14]/)
      const other = await fixture.open("#documents", { storageState: { cookies: [], origins: [] } })
      await other.getByLabel("API key").fill(token)
      await other.keyboard.press("Enter")
      const choice = other.getByLabel("Collection", { exact: true })
      await choice.selectOption({ label: "default (shared by owner)" })
      await other.getByText("You can read this collection, not change it.").waitFor()
      await other.locator(".documents li").first().waitFor()
      assert.strictEqual(await other.getByRole("button", { name: /^Remove / }).count(), 0)
      assert.strictEqual(await other.getByRole("button", { name: /^Share/ }).count(), 0)

      await members.getByLabel("Access of Ann").selectOption("write")
      await page.getByText("Ann has access.").waitFor({ state: "attached" })
      await other.reload()
      await other.getByText("Add files").waitFor()
      await members.getByRole("button", { name: "Remove Ann" }).click()
      await page.getByText("Ann has no access any more.").waitFor({ state: "attached" })
      await other.reload()
      await other.getByText("Add documents to start.").waitFor()
    })
  })
}
