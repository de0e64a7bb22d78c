/** The account view: balance, usage, keys, tokens and users. */
import { assert, describe, it } from "vitest"
import { FOCUSED } from "./pageScripts.ts"
import { DESKTOP, PHONE, type PageFixture } from "./pageFixture.ts"

const NAME = `harbour office ${"W".repeat(60)}`

/**
 * Presses “Deduct” again before the first response, and returns the number of requests. It does not use the mouse: when
 * the alert disappears, what is below it moves.
 */
const DEDUCT_TWICE = `(async () => {
  const originalFetch = fetch
  const pressed = Promise.withResolvers()
  let requests = 0
  fetch = async (path, options) => {
    if (path === "/api/user") {
      requests++
      await pressed.promise
    }
    return originalFetch(path, options)
  }
  const deduct = [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Deduct")
  deduct.click()
  await new Promise((resolve) => setTimeout(resolve))
  deduct.click()
  fetch = originalFetch
  pressed.resolve()
  return requests
})()`

export const accountTests = (fixture: PageFixture): void => {
  describe("the account", () => {
    const statusWith = async (key: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` }
      return (await fetch(`${fixture.server.address}v1/models`, { headers })).status
    }

    it("shows the balance in USD and in units", async () => {
      const page = await fixture.open("#account")
      await page.locator(".balance .amount", { hasText: /^\$[\d,]+\.\d{2,6}$/ }).waitFor()
      assert.match(await page.locator(".balance").innerText(), /[\d,.\s]+ units left/)
    })

    it("shows usage as a chart and as a table", async () => {
      const headers = { authorization: `Bearer ${fixture.server.apiKey}`, "content-type": "application/json" }
      const call = async () => {
        const body = JSON.stringify({ model: "sluice-lexical-1024", input: "A lock with two gates" })
        await fetch(`${fixture.server.address}v1/embeddings`, { method: "POST", headers, body })
      }
      await call()
      const page = await fixture.open("#account")
      await page.getByLabel("Calls").check()
      const caption = page.locator(".usage-chart figcaption", { hasText: /calls? in 30 days/ })
      const calls = Number.parseInt(await caption.innerText())
      assert.isAtLeast(calls, 1)
      await Promise.all([call(), call(), call()])
      await page.reload()
      await page.getByLabel("Calls").check()
      await caption.filter({ hasText: `${calls + 3} calls` }).waitFor()
      assert.strictEqual(await page.locator(".usage-chart rect").count(), 30)
      const { height = 0 } = (await page.locator(".usage-chart rect").last().boundingBox()) ?? {}
      assert.isAbove(height, 50)
      await page.getByLabel("Days shown").selectOption("7")
      await page.locator(".usage-chart figcaption", { hasText: `${calls + 3} calls in 7 days` }).waitFor()
      assert.strictEqual(await page.locator(".usage-chart rect").count(), 7)
      await page.locator(".usage-chart svg").hover({ position: { x: 2, y: 60 } })
      await page.locator(".usage-chart", { hasText: "0 calls" }).waitFor()
      await page.getByRole("button", { name: "Show as a table" }).click()
      await page.locator(".usage tbody tr", { hasText: "sluice-lexical-1024" }).waitFor()
    })

    it("replaces the system access token after confirmation and shows the new one once", async () => {
      const page = await fixture.open("#account")
      const button = page.getByRole("button", { name: "New token" })
      await button.dblclick()
      assert.strictEqual(await page.locator(".new-secret").count(), 0, "a double click revokes nothing")
      await page.getByRole("button", { name: "Keep it" }).press("Enter")
      assert.strictEqual(await page.evaluate<string>(FOCUSED), "New token")
      await page.keyboard.press("Enter")
      assert.strictEqual(await page.evaluate<string>(FOCUSED), "Keep it")
      await page.getByRole("button", { name: "Revoke and create" }).click()
      const token = await page.locator(".new-secret code").innerText()
      const headers = { authorization: `Bearer ${token}` }
      assert.strictEqual((await fetch(`${fixture.server.address}api/user/self`, { headers })).status, 200)
      await page.getByRole("button", { name: "Done" }).click()
      assert.notInclude(await page.content(), token)
      assert.strictEqual(await page.evaluate<string>(FOCUSED), "New token")
    })

    it("creates, copies, disables, enables and deletes a key", async () => {
      const page = await fixture.open("#account", { permissions: ["clipboard-read", "clipboard-write"] })
      await page.getByRole("button", { name: "New key" }).click()
      await page.getByLabel("Name").fill(NAME)
      await page.getByLabel("Spending limit, in USD").fill("2.50")
      await page.getByText("1,250,000 units").waitFor()
      await page.getByLabel("Requests per minute (optional)").fill("90")
      await page.getByRole("button", { name: "Create the key" }).click()
      const fresh = page.locator(".new-secret")
      const key = await fresh.locator("code").innerText()
      assert.strictEqual(await page.evaluate<string>(FOCUSED), NAME)
      assert.match(key, /^sk-\w{30,}/)
      await page.setViewportSize(PHONE)
      const title = await fresh.getByRole("heading").boundingBox()
      assert.isBelow(title?.width ?? Infinity, PHONE.width)
      await page.setViewportSize(DESKTOP)
      await fresh.getByRole("button", { name: "Copy the key" }).click()
      await fresh.getByText("Copied").waitFor()
      assert.strictEqual(await page.evaluate<string>("navigator.clipboard.readText()"), key)
      assert.strictEqual(await statusWith(key), 200)

      await page.getByRole("button", { name: "Done" }).click()
      await fresh.waitFor({ state: "detached" })
      await page.reload()
      const row = page.locator(".keys-list li", { hasText: NAME })
      await row.getByText("$2.50 left").waitFor()
      await row.getByText("90 requests per minute").waitFor()
      assert.notInclude(await page.content(), key, "the page no longer contains the key")

      const enabled = row.getByRole("switch")
      await enabled.uncheck()
      await row.getByText("Disabled").waitFor()
      await page.getByText(`${NAME} is disabled.`).waitFor({ state: "attached" })
      assert.strictEqual(await statusWith(key), 401)
      await enabled.check()
      await page.getByText(`${NAME} is enabled.`).waitFor({ state: "attached" })
      assert.strictEqual(await statusWith(key), 200)

      await row.getByRole("button", { name: `Delete ${NAME}` }).click()
      await page.keyboard.press("Escape")
      await page.getByRole("button", { name: "Keep it" }).waitFor({ state: "hidden" })
      assert.strictEqual(await page.evaluate<string>(FOCUSED), `Delete ${NAME}`)
      await row.getByRole("button", { name: `Delete ${NAME}` }).click()
      await page.getByRole("button", { name: "Delete", exact: true }).press("Enter")
      await page.getByText(`${NAME} was deleted.`).waitFor({ state: "attached" })
      assert.strictEqual(await row.count(), 0)
      assert.strictEqual(await page.evaluate<string>(FOCUSED), "Delete first")
      assert.strictEqual(await statusWith(key), 401)
    })

    it("moves the focus to the first new key after “Show more”", async () => {
      const page = await fixture.open("#account")
      await page.locator(".keys-list li").first().waitFor()
      const body = { name: "of many", expired_time: -1, remain_quota: 1, subnet: "" }
      await page.evaluate(`Promise.all(Array.from({ length: 50 }, () => fetch("/api/token/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: ${JSON.stringify(JSON.stringify(body))}
      })))`)
      await page.reload()
      await page.getByRole("button", { name: "Show more" }).press("Enter")
      await page.locator(".keys-list li:nth-child(51):focus").waitFor()
      // A key that another program deleted is reported and removed.
      fixture.expect(/404/)
      await page.evaluate(`(async () => {
        const { data } = await (await fetch("/api/token/?num=1&p=0")).json()
        await fetch("/api/token/" + data[0].id, { method: "DELETE" })
      })()`)
      await page.getByRole("switch").first().click({ force: true })
      await page
        .getByRole("alert")
        .filter({ hasText: /no token/i })
        .waitFor()
      await page.locator(".keys-list li:nth-child(51)").waitFor({ state: "detached" })
    })

    it("reports why a key cannot be created and keeps the form", async () => {
      fixture.expect(/400/)
      const page = await fixture.open("#account")
      await page.getByRole("button", { name: "New key" }).click()
      await page.getByLabel("Name").fill(NAME)
      await page.getByLabel("Spending limit, in USD").fill("0.0000001")
      assert.isTrue(await page.getByRole("button", { name: "Create the key" }).isDisabled())
      await page.getByLabel("Spending limit, in USD").fill("1")
      await page.getByLabel("Allowed networks (optional)").fill("the harbour")
      await page.getByRole("button", { name: "Create the key" }).click()
      await page.getByRole("alert").filter({ hasText: "list of networks" }).waitFor()
      assert.strictEqual(await page.getByLabel("Name").inputValue(), NAME, "the form keeps its values")
    })

    it("lets an administrator create, credit, change and disable a user", async () => {
      const page = await fixture.open("#account")
      await page.getByRole("link", { name: "users and audit log" }).click()
      await page.getByRole("button", { name: "New user" }).click()
      await page.getByLabel("Name").fill("ann")
      await page.getByLabel("Starting balance, in USD").fill("1")
      await page.getByRole("button", { name: "Create the user" }).click()
      const token = await page.locator(".new-secret code").innerText()
      const self = async () => {
        const headers = { authorization: `Bearer ${token}` }
        const response = await fetch(`${fixture.server.address}api/user/self`, { headers })
        const body = (await response.json()) as { data?: { quota: number } }
        return { status: response.status, quota: body.data?.quota }
      }
      assert.deepStrictEqual(await self(), { status: 200, quota: 500_000 })
      await page.getByRole("button", { name: "Done" }).click()
      assert.notInclude(await page.content(), token)

      const row = page.locator(".keys-list li", { hasText: "ann" }).first()
      await row.getByRole("button", { name: "Balance of ann" }).click()
      await page.getByLabel("Amount for ann, in USD").fill("2.50")
      await page.keyboard.press("Enter")
      await row.getByText("$3.50 left").waitFor()
      assert.strictEqual(await page.evaluate<string>(FOCUSED), "Balance of ann")
      await page.keyboard.press("Enter")
      await page.getByLabel("Amount for ann, in USD").fill("9")
      fixture.expect(/409/)
      await page.getByRole("button", { name: "Deduct" }).click()
      await page.getByRole("alert").filter({ hasText: "balance is too low" }).waitFor()
      assert.deepStrictEqual(await self(), { status: 200, quota: 1_750_000 })
      await page.getByLabel("Amount for ann, in USD").fill("0.50")
      assert.strictEqual(await page.evaluate<number>(DEDUCT_TWICE), 1)
      await row.getByText("$3.00 left").waitFor()
      assert.deepStrictEqual(await self(), { status: 200, quota: 1_500_000 })

      await row.getByRole("button", { name: "Rights of ann" }).click()
      await page.getByLabel("Role").selectOption("admin")
      await page.getByLabel("Tokens per minute (optional)").fill("4000")
      await page.keyboard.press("Enter")
      await row.getByText("administrator", { exact: true }).waitFor()
      await row.getByText("4,000 tokens per minute").waitFor()
      assert.strictEqual(await page.evaluate<string>(FOCUSED), "Rights of ann")
      await page.keyboard.press("Enter")
      assert.strictEqual(await page.getByLabel("Role").inputValue(), "admin")
      // Another administrator changes the other fields.
      const other = await page.evaluate<number>(`(async () => {
        const users = await (await fetch("/api/user?num=50&p=0")).json()
        const { id } = users.data.find(({ username }) => username === "ann")
        const body = JSON.stringify({ id, role: "user", requests_per_minute: 70 })
        const headers = { "content-type": "application/json" }
        return (await fetch("/api/user", { method: "PUT", headers, body })).status
      })()`)
      assert.strictEqual(other, 200)
      await page.getByLabel("Tokens per minute (optional)").fill("")
      await page.keyboard.press("Enter")
      await row.getByText("4,000 tokens per minute").waitFor({ state: "detached" })
      await row.getByText("70 requests per minute").waitFor()
      await row.getByText("user", { exact: true }).waitFor()
      const [mine] = await page.locator(".keys-list li", { hasText: "owner" }).all()
      await mine?.getByRole("button", { name: "Rights of owner" }).click()
      assert.strictEqual(await page.getByLabel("Role").count(), 0, "the own role cannot be changed")
      await page.getByRole("button", { name: "Cancel" }).click()
      await row.getByRole("switch").uncheck()
      await row.getByText("Disabled").waitFor()
      assert.strictEqual((await self()).status, 401)
      await page.locator(".audit li", { hasText: /owner changed the user ann status disabled/ }).waitFor()
      await page.locator(".audit li", { hasText: /owner changed the user ann add quota \$2\.50/ }).waitFor()
    })

    it("reloads every tab when another user signs in", async () => {
      const page = await fixture.open("#documents", {})
      await page.locator(".documents li").first().waitFor()
      const token = await page.evaluate<string>(`(async () => {
        const body = JSON.stringify({ username: "bob", quota: 0, role: "user" })
        const headers = { "content-type": "application/json" }
        return (await (await fetch("/api/user", { method: "POST", headers, body })).json()).data.access_token
      })()`)
      await page.context().clearCookies()
      const [other, third] = [await page.context().newPage(), await page.context().newPage()]
      fixture.expect(/401/)
      await third.goto(fixture.server.address)
      await third.getByLabel("API key").waitFor()
      await other.goto(fixture.server.address)
      await other.getByLabel("API key").fill(token)
      await other.keyboard.press("Enter")
      await page.waitForURL(fixture.server.address)
      await page.getByRole("link", { name: "Documents", exact: true }).click()
      await page.getByText("Add documents to start.").waitFor()
      await third.getByLabel("Your question").waitFor()
    })

    it("signs out", async () => {
      // An API key cannot manage the account.
      fixture.expect(/40[13]|503/)
      const page = await fixture.open("", { storageState: { cookies: [], origins: [] } })
      await page.getByLabel("API key").fill(fixture.server.apiKey)
      await page.keyboard.press("Enter")
      await page.getByRole("link", { name: "Account" }).click()
      const out = page.getByRole("button", { name: "Sign out" })
      await page.route("**/session", (route) => route.fulfill({ status: 503 }), { times: 1 })
      await out.click()
      await page.getByRole("alert").filter({ hasText: "status 503" }).waitFor()
      await out.click()
      await page.getByLabel("API key").waitFor()
      await page.reload()
      await page.getByLabel("API key").waitFor()
    })
  })
}
