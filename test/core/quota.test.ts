import { assert, describe, it } from "@effect/vitest"
import { formatQuota, Quota, quota, quotaOfUsd, UNITS_PER_USD, usdOf } from "@sluice/core"
import { BigDecimal, Option, Schema } from "effect"

const MAX = Number.MAX_SAFE_INTEGER
const units = (usd: string | number) => Option.getOrUndefined(quotaOfUsd(usd))

describe("quota", () => {
  it.prop("converts to USD and back exactly, as decimal and as text", [Quota], ([any]) => {
    const amount = quota(any + 0)
    assert.deepStrictEqual(quotaOfUsd(usdOf(amount)), Option.some(amount))
    assert.deepStrictEqual(quotaOfUsd(BigDecimal.format(usdOf(amount))), Option.some(amount))
    assert.deepStrictEqual(quotaOfUsd(formatQuota(amount).replace(/[$,]/g, "")), Option.some(amount))
  })

  it.prop("adds up in USD as in units", [Schema.Int, Schema.Int], ([a, b]) => {
    const [left, right] = [quota(Math.trunc(a / 2) + 0), quota(Math.trunc(b / 2) + 0)]
    const sum = BigDecimal.sum(usdOf(left), usdOf(right))
    assert.deepStrictEqual(quotaOfUsd(sum), Option.some(quota(left + right)))
  })

  it("has the rate of the interface, up to the largest exact amounts", () => {
    assert.strictEqual(units(1), UNITS_PER_USD as Quota)
    assert.strictEqual(units("12.50"), quota(6_250_000))
    assert.strictEqual(units(0.1), quota(50_000))
    assert.strictEqual(units(2e-6), quota(1))
    assert.strictEqual(BigDecimal.format(usdOf(quota(-1))), "-0.000002")
    for (const amount of [MAX, -MAX, MAX - 1])
      assert.strictEqual(units(BigDecimal.format(usdOf(quota(amount)))), quota(amount))
  })

  it("rejects amounts that are not exact", () => {
    for (const usd of [
      "0.000001",
      "0.0000021",
      "18014398509.481984",
      "1e400",
      "1e-400",
      "-1e999999",
      "",
      "$1",
      Number.NaN,
      Infinity
    ]) {
      assert.isUndefined(units(usd), String(usd))
    }
    for (const amount of [0.5, MAX + 1, Number.NaN]) assert.throws(() => quota(amount))
    assert.isTrue(Option.isNone(Schema.decodeUnknownOption(Quota)("5")))
  })

  it("is not a plain number to the compiler", () => {
    // @ts-expect-error: units are to be made by `quota`
    const bare: Quota = 5
    assert.strictEqual(formatQuota(bare), "$0.00001")
  })

  it("is formatted with two to six decimals", () => {
    const shown = [0, 500_000, 750_000, 1, -1, 500_050, 617_283_617_283, MAX].map((amount) =>
      formatQuota(quota(amount))
    )
    assert.deepStrictEqual(shown, [
      "$0.00",
      "$1.00",
      "$1.50",
      "$0.000002",
      "-$0.000002",
      "$1.0001",
      "$1,234,567.234566",
      "$18,014,398,509.481982"
    ])
  })
})
