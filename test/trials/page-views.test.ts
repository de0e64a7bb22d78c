/** Every view of the page: contrast, accessibility and width, in both colour schemes and on a phone. */
import type { BrowserContextOptions } from "playwright-core"
import { assert, it } from "vitest"
import { HARBOUR } from "../web/harbour.ts"
import { addFiles, pageFixture, PHONE } from "../web/pageFixture.ts"
import { accessibilityViolations, FAINT_TEXTS, OVERFLOW } from "../web/pageScripts.ts"
import { PLAYGROUND_VIEWS } from "../web/playground.ts"

/** It leaves an entry in the audit log. */
const CREATE_KEY = `fetch("/api/token/", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ name: "harbour", expired_time: -1, remain_quota: 1, subnet: "" })
}).then(({ ok }) => ok)`

const fixture = pageFixture(async (page) => {
  await page.goto(`${fixture.server.address}#documents`)
  await addFiles(page, HARBOUR)
  assert.isTrue(await page.evaluate(CREATE_KEY))
})

/** Each view, and an element of it when it is complete. */
const VIEWS = Object.entries({
  "#ask": ".library-size",
  "#documents": ".documents li",
  "#models": ".model-list li",
  "#account": ".keys-list li",
  "#administration": ".audit li",
  "#connect": ".new-key",
  ...PLAYGROUND_VIEWS
})

const DISPLAYS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  "a phone": { viewport: PHONE, isMobile: true, hasTouch: true }
}

it.each(Object.entries(DISPLAYS))("has no accessibility violation in %s", async (_, display) => {
  const page = await fixture.open("", display)
  for (const [hash, come] of VIEWS) {
    await page.goto(`${fixture.server.address}${hash}`)
    await page.locator(come).first().waitFor()
    assert.deepStrictEqual(await page.evaluate<Array<string>>(FAINT_TEXTS), [], hash)
    assert.deepStrictEqual(await accessibilityViolations(page), [], hash)
    assert.strictEqual(await page.evaluate<number>(OVERFLOW), 0, hash)
  }
})
