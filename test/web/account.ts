/** The account in the page: what is left, and the life of a key. */
import { assert, describe, it } from "vitest"
import type { Visitor } from "./visitor.ts"

const NAME = "harbour office"

export const accountTests = (visit: Visitor): void => {
  describe("the account", () => {
    const statusWith = async (key: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` }
      return (await fetch(`${visit.server.address}v1/models`, { headers })).status
    }

    it("says what is left, in USD and in units", async () => {
      const page = await visit.open("#account")
      await page.locator(".balance .amount", { hasText: /^\$[\d,]+\.\d{2,6}$/ }).waitFor()
      assert.match(await page.locator(".balance").innerText(), /[\d,.\s]+ units left/)
    })

    it("makes a key, shows it once, copies it, disables, enables and deletes it", async () => {
      const page = await visit.open("#account", { permissions: ["clipboard-read", "clipboard-write"] })
      await page.getByRole("button", { name: "New key" }).click()
      await page.getByLabel("Name").fill(NAME)
      await page.getByLabel("May spend, in USD").fill("2.50")
      await page.getByText("1,250,000 units").waitFor()
      await page.getByRole("button", { name: "Make the key" }).click()
      const fresh = page.locator(".fresh")
      const key = await fresh.locator("code").innerText()
      assert.match(key, /^sk-\w{30,}/)
      await fresh.getByRole("button", { name: "Copy the key" }).click()
      await fresh.getByText("Copied").waitFor()
      assert.strictEqual(await page.evaluate<string>("navigator.clipboard.readText()"), key)
      assert.strictEqual(await statusWith(key), 200)

      await page.getByRole("button", { name: "I have it" }).click()
      await fresh.waitFor({ state: "detached" })
      await page.reload()
      const row = page.locator(".keys-list li", { hasText: NAME })
      await row.getByText("$2.50 left").waitFor()
      assert.notInclude(await page.content(), key, "it is nowhere on the page any more")

      const enabled = row.getByRole("switch")
      await enabled.uncheck()
      await row.getByText("Disabled").waitFor()
      await page.getByText(`${NAME} is disabled.`).waitFor({ state: "attached" })
      assert.strictEqual(await statusWith(key), 401)
      await enabled.check()
      await page.getByText(`${NAME} is enabled.`).waitFor({ state: "attached" })
      assert.strictEqual(await statusWith(key), 200)

      await row.getByRole("button", { name: `Delete ${NAME}` }).click()
      await page.getByRole("button", { name: "Keep" }).click()
      await row.getByRole("button", { name: `Delete ${NAME}` }).click()
      await page.getByRole("button", { name: "Delete for good" }).click()
      await page.getByText(`${NAME} was deleted.`).waitFor({ state: "attached" })
      assert.strictEqual(await row.count(), 0)
      assert.strictEqual(await statusWith(key), 401)
    })

    it("says what is wrong with a key that cannot be made", async () => {
      const page = await visit.open("#account")
      visit.expect(/400/)
      await page.getByRole("button", { name: "New key" }).click()
      await page.getByLabel("Name").fill(NAME)
      await page.getByLabel("May spend, in USD").fill("0.0000001")
      assert.isTrue(await page.getByRole("button", { name: "Make the key" }).isDisabled())
      await page.getByLabel("May spend, in USD").fill("1")
      await page.getByLabel("Only from (optional)").fill("the harbour")
      await page.getByRole("button", { name: "Make the key" }).click()
      await page.getByRole("alert").filter({ hasText: "list of networks" }).waitFor()
      assert.strictEqual(await page.getByLabel("Name").inputValue(), NAME, "nothing written is lost")
    })

    it("ends the session", async () => {
      const page = await visit.open("", { storageState: { cookies: [], origins: [] } })
      // A key opens what a key opens: the account is not among it.
      visit.expect(/40[13]/)
      await page.getByLabel("API key").fill(visit.server.apiKey)
      await page.keyboard.press("Enter")
      await page.getByRole("link", { name: "Account" }).click()
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.getByLabel("API key").waitFor()
      await page.reload()
      await page.getByLabel("API key").waitFor()
    })
  })
}
