/** Amounts on the page have the text that the contract gives them. */
import { assert, it } from "@effect/vitest"
import { formatQuota, quota, quotaOfUsd, UNITS_PER_USD } from "@sluice/core/contract"
import { Option } from "effect"
import { parseUsd, usd } from "../../apps/demo-server/src/web/ui/format.ts"

/** The largest amount that the page accepts. */
const MOST = 999_999_999 * UNITS_PER_USD

it("writes amounts as the contract does, and parses them again", () => {
  // Small and large amounts, few of them round.
  for (let units = 1; units < MOST; units = Math.floor(units * 1.37) + 1) {
    const text = usd(units)
    assert.strictEqual(text, formatQuota(quota(units)))
    assert.strictEqual(parseUsd(text.replaceAll(",", "")), units)
  }
})

it("refuses text that is not an amount", () => {
  for (const text of ["", " ", "-1", "1e3", "ten", "1.2.3", "0x10"]) assert.isUndefined(parseUsd(text), text)
})

it("refuses an amount that is not a whole number of units", () => {
  for (const text of ["0.000001", "1.0000001"]) assert.isUndefined(parseUsd(text), text)
})

it("parses amounts as the contract does", () => {
  for (const text of ["2.50", "0.000002", "10", "0.1", "123456.78"]) {
    assert.strictEqual(parseUsd(text), Option.getOrUndefined(quotaOfUsd(text)), text)
  }
})
