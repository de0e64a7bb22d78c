/** An invitation, a collection shared on the page in three clicks, and what a member sees. */
import { assert, describe, it } from "vitest"
import type { PageFixture } from "./pageFixture.ts"

export const sharingTests = (fixture: PageFixture): void => {
  describe("a shared collection", () => {
    it("is shared in three clicks, read by its member, and ends with the membership", async () => {
      const page = await fixture.open("#administration")
      await page.getByRole("button", { name: "New user" }).click()
      await page.getByLabel("Name", { exact: true }).fill("Ann")
      await page.getByRole("button", { name: "Invite by link" }).click()
      const link = await page.locator(".secret code").innerText()
      // The invitation makes the user.
      fixture.expect(/40[14]/)
      const other = await fixture.open("", { storageState: { cookies: [], origins: [] } })
      await other.getByLabel("API key").waitFor()
      // The invitation is opened while the page still asks whether it is signed in. The late "no" must not sign it out.
      await other.route("**/session", async (route) => {
        if (route.request().method() === "GET") await other.waitForTimeout(500)
        await route.continue()
      })
      const asked = other.waitForRequest("**/session")
      const refused = other.waitForResponse(
        (response) => response.request().method() === "GET" && response.status() === 401
      )
      await other.reload({ waitUntil: "commit" })
      await asked
      await other.goto(link)
      await refused
      await other.getByLabel("Your question").waitFor()
      assert.strictEqual(other.url(), fixture.server.address, "the invitation is removed from the address")

      await page.goto(`${fixture.server.address}#documents`)
      await page.locator(".documents li").first().waitFor()
      // Click 1, a name, click 2.
      await page.getByRole("button", { name: "Share", exact: true }).click()
      await page.keyboard.type("Ann")
      await page.getByRole("button", { name: "Share", exact: true }).last().click()
      const members = page.getByRole("list", { name: "Members" })
      await members.getByText("Ann").waitFor()
      await page.getByRole("button", { name: "Shared with 1" }).waitFor()

      await other.goto(`${fixture.server.address}#documents`)
      await other.reload()
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
