/** Connect a model: try a vendor, save it, and remove it. */
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { loopback } from "../demo-server/Loopback.ts"
import { OPENAI_KEY, SECOND_KEY, startFakeOpenAi, startWithKey } from "../connect/FakeOpenAi.ts"
import { PHONE, type PageFixture } from "./pageFixture.ts"

const TITLE_IN_VIEW = `(({ bottom, top }) => top >= 0 && bottom <= innerHeight)(
  document.getElementById("local-models-title").getBoundingClientRect())`

export const connectTests = (fixture: PageFixture): void => {
  describe("connect a model", () => {
    it("is where the line about the demo models leads", async () => {
      const page = await fixture.open("")
      await page.getByText("Demo models: keyword matching.").waitFor()
      await page.getByRole("link", { name: "Connect a model" }).click()
      await page.getByRole("heading", { name: "Connect a model" }).waitFor()
    })

    it("has local models, where the other link of that line leads", async () => {
      const page = await fixture.open("", { viewport: PHONE })
      await page.getByRole("link", { name: "get local models" }).click()
      await page.getByRole("list", { name: "Sets of local models" }).waitFor()
      await page.waitForFunction(TITLE_IN_VIEW)
    })

    const connect = async (url: string, secondUrl: string) => {
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
      const save = async () => {
        // The other tests need the embedded models.
        for (const label of ["Search with", "Answer with", "Look at figures with"]) {
          await page.getByLabel(label).selectOption("")
        }
        await page.getByRole("button", { name: "Save" }).click()
      }
      await save()
      const connected = page.getByRole("region", { name: "Connected" })
      await connected.locator(".name", { hasText: /^openai$/ }).waitFor()
      assert.strictEqual(await page.getByLabel("Key", { exact: true }).inputValue(), "")
      await page.getByText("Leave empty to keep the saved key.").waitFor()
      assert.strictEqual(await page.getByLabel("Address (optional)").inputValue(), url)

      // Another name has an address and a key of its own.
      await page.getByLabel("Name (optional)").fill("second")
      assert.strictEqual(await page.getByLabel("Address (optional)").inputValue(), "")
      await page.getByLabel("Address (optional)").fill(secondUrl)
      await page.getByLabel("Key", { exact: true }).fill(SECOND_KEY)
      await page.getByRole("button", { name: /Try/ }).click()
      await tries.getByText("chat: gpt-4o-mini works").waitFor()
      await save()
      await connected.locator(".name", { hasText: /^second$/ }).waitFor()
      await page.getByRole("button", { name: "Remove second" }).click()
      await page.getByRole("button", { name: "Remove", exact: true }).click()
      await connected.locator(".name", { hasText: /^second$/ }).waitFor({ state: "detached" })

      await page.goto(`${fixture.server.address}#models`)
      await page.locator(".model-list code", { hasText: "gpt-image-1" }).waitFor()

      await page.goto(`${fixture.server.address}#connect`)
      await page.getByRole("button", { name: "Remove openai" }).click()
      await page.getByRole("button", { name: "Remove", exact: true }).click()
      await connected.waitFor({ state: "detached" })
      await page.goto(`${fixture.server.address}#administration`)
      await page.locator(".audit li", { hasText: "connected the vendor openai" }).waitFor()
    }

    const nameModels = async (url: string) => {
      const page = await fixture.open("#connect")
      await page.getByLabel("Vendor", { exact: true }).selectOption("gateway")
      await page.getByLabel("Address", { exact: true }).fill(url)
      fixture.expect(/400/)
      await page.getByRole("button", { name: "Try it" }).click()
      await page.getByRole("alert").filter({ hasText: "did not list its models" }).waitFor()
      const tryModels = async (models: string) => {
        await page.getByLabel(/^Models/).fill(models)
        await page.getByRole("button", { name: /Try/ }).click()
      }
      await tryModels("rank bge")
      await page.getByRole("alert").filter({ hasText: "models.0.operation" }).waitFor()
      await tryModels("rerank bge")
      await page.getByText("rerank: bge works").waitFor()
      // The names are those of one vendor.
      await page.getByLabel("Vendor", { exact: true }).selectOption("openai")
      assert.strictEqual(await page.getByLabel(/^Models/).count(), 0)
    }

    it("takes names of models for a vendor that does not list them, and says which line is wrong", () =>
      loopback(({ path, response }) => {
        response.writeHead(path === "/v1/rerank" ? 200 : 404, { "content-type": "application/json" })
        response.end(JSON.stringify({ results: [0, 1].map((index) => ({ index, relevance_score: 0.5 })) }))
      }).pipe(
        Effect.flatMap(({ url }) => Effect.promise(() => nameModels(url))),
        Effect.scoped,
        Effect.runPromise
      ))

    it("tries a vendor, says why a call failed, and uses it once it is saved, until it is removed", () =>
      Effect.all([startFakeOpenAi, startWithKey(SECOND_KEY)]).pipe(
        Effect.flatMap(([{ url }, second]) => Effect.promise(() => connect(url, second.url))),
        Effect.scoped,
        Effect.runPromise
      ))
  })
}
