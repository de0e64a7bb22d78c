/** Connect a model: try a vendor, save it, and remove it. */
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { OPENAI_KEY, startFakeOpenAi } from "../connect/FakeOpenAi.ts"
import type { PageFixture } from "./pageFixture.ts"

export const connectTests = (fixture: PageFixture): void => {
  describe("connect a model", () => {
    it("is where the line about the demo models leads", async () => {
      const page = await fixture.open("")
      await page.getByText("Demo models: keyword matching.").waitFor()
      await page.getByRole("link", { name: "Connect a model" }).click()
      await page.getByRole("heading", { name: "Connect a model" }).waitFor()
    })

    const connect = async (url: string) => {
      const page = await fixture.open("#connect")
      const tryWith = async (key: string) => {
        await page.getByLabel("Address (optional)").fill(url)
        await page.getByLabel("Key", { exact: true }).fill(key)
        await page.getByRole("button", { name: /Try/ }).click()
      }
      fixture.expect(/400/)
      await tryWith("sk-wrong-0123456789abcdef")
      await page.getByRole("alert").filter({ hasText: "Incorrect API key provided" }).waitFor()
      assert.strictEqual(await page.getByRole("button", { name: "Save" }).count(), 0)

      await tryWith(OPENAI_KEY)
      const tries = page.getByRole("list", { name: "Calls that were tried" })
      await tries.getByText("chat: gpt-4o-mini works").waitFor()
      assert.strictEqual(await page.getByLabel("Search with").inputValue(), "text-embedding-3-small")
      // The other tests need the embedded models.
      for (const label of ["Search with", "Answer with", "Look at figures with"]) {
        await page.getByLabel(label).selectOption("")
      }
      await page.getByRole("button", { name: "Save" }).click()
      const connected = page.getByRole("region", { name: "Connected" })
      await connected.locator(".name", { hasText: /^openai$/ }).waitFor()
      assert.strictEqual(await page.getByLabel("Key", { exact: true }).inputValue(), "")
      await page.getByText("Leave empty to keep the saved key.").waitFor()
      assert.strictEqual(await page.getByLabel("Address (optional)").inputValue(), url)
      await page.goto(`${fixture.server.address}#models`)
      await page.locator(".model-list code", { hasText: "gpt-image-1" }).waitFor()

      await page.goto(`${fixture.server.address}#connect`)
      await page.getByRole("button", { name: "Remove openai" }).click()
      await page.getByRole("button", { name: "Remove", exact: true }).click()
      await connected.waitFor({ state: "detached" })
      await page.goto(`${fixture.server.address}#administration`)
      await page.locator(".audit li", { hasText: "connected the vendor openai" }).waitFor()
    }

    it("tries a vendor, says why a call failed, and uses it once it is saved, until it is removed", () =>
      startFakeOpenAi.pipe(
        Effect.flatMap(({ url }) => Effect.promise(() => connect(url))),
        Effect.scoped,
        Effect.runPromise
      ))
  })
}
