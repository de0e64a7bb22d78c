/** The page reads and writes amounts as the contract does, which it does not load. */
import { assert, it } from "@effect/vitest"
import { formatQuota, quota, quotaOfUsd, UNITS_PER_USD } from "@sluice/core"
import { Option } from "effect"
import * as Money from "../../apps/demo-server/src/web/ui/money.ts"

/** As many dollars as a key may be given in the page. */
const MOST = 999_999_999 * UNITS_PER_USD

it("amounts are written as the contract writes them, and read again", () => {
  assert.strictEqual(Money.UNITS_PER_USD, UNITS_PER_USD)
  // Small ones and large ones, few of them round.
  for (let units = 1; units < MOST; units = Math.floor(units * 1.37) + 1) {
    const text = Money.usd(units)
    assert.strictEqual(text, formatQuota(quota(units)))
    assert.strictEqual(Money.unitsOf(text.replaceAll(",", "")), units)
  }
})

it("what is no amount, and what is no whole number of units, is none", () => {
  for (const text of ["", " ", "-1", "1e3", "ten", "1.2.3", "0.000001", "1.0000001", "0x10"]) {
    assert.isUndefined(Money.unitsOf(text), text)
  }
  for (const text of ["2.50", "0.000002", "10", "0.1", "123456.78"]) {
    assert.strictEqual(Money.unitsOf(text), Option.getOrUndefined(quotaOfUsd(text)), text)
  }
})
