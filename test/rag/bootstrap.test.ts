/** The paired bootstrap, by hand. */
import { assert, describe, it } from "@effect/vitest"
import { compareRuns, measureOne, pairedBootstrap } from "@sluice/rag/evaluation"

const near = (value: number, expected: number, within: number) =>
  assert.isBelow(Math.abs(value - expected), within, `${value} is not near ${expected}`)

describe("the paired bootstrap", () => {
  it("has the p-value of an enumeration", () => {
    // Three queries are better by 1, one is equal. A resample without difference draws the last query four times: 1 of 256.
    const { difference, interval, p } = pairedBootstrap([1, 1, 1, 0.5], [0, 0, 0, 0.5])
    assert.strictEqual(difference, 0.75)
    assert.deepStrictEqual(interval, [0.25, 1])
    near(p, 2 / 256, 0.003)
    // One query is better and one worse by the same: a quarter of the resamples on either side, half in the middle.
    assert.deepStrictEqual(pairedBootstrap([1, 0], [0, 1]), { difference: 0, interval: [-1, 1], p: 1 })
  })

  it("agrees with the normal distribution for many queries", () => {
    // 400 differences of +1 and 320 of -1: mean 1/9, standard error √(1 - 1/81) / √720, z = 3.0.
    const wins = Array.from({ length: 720 }, (_, i) => (i < 400 ? 1 : 0))
    const { interval, p } = pairedBootstrap(
      wins,
      wins.map((win) => 1 - win)
    )
    const error = Math.sqrt((1 - 1 / 81) / 720)
    near(interval[0], 1 / 9 - 1.96 * error, 0.005)
    near(interval[1], 1 / 9 + 1.96 * error, 0.005)
    near(p, 0.0027, 0.002)
  })

  it("is deterministic, antisymmetric, and not significant without differences", () => {
    const a = Array.from({ length: 50 }, (_, i) => Math.sin(i) + 0.1)
    const b = Array.from({ length: 50 }, (_, i) => Math.cos(i))
    const once = pairedBootstrap(a, b)
    assert.deepStrictEqual(pairedBootstrap(a, b), once)
    const turned = pairedBootstrap(b, a)
    near(turned.difference, -once.difference, 1e-12)
    near(turned.p, once.p, 1e-3)
    assert.deepStrictEqual(pairedBootstrap([], []), { difference: 0, interval: [0, 0], p: 1 })
    assert.deepStrictEqual(pairedBootstrap(a, a), { difference: 0, interval: [0, 0], p: 1 })
    // p is never 0.
    assert.strictEqual(pairedBootstrap([1, 1], [0, 0], { resamples: 99 }).p, 2 / 100)
  })

  it("compares runs metric by metric", () => {
    const judgements = new Map([["d", 1]])
    const found = Array.from({ length: 12 }, () => measureOne(["d"], judgements))
    const late = Array.from({ length: 12 }, () => measureOne(["x", "y", "z", "d"], judgements))
    const { metrics, queries } = compareRuns({ name: "a", each: found }, { name: "b", each: late })
    assert.strictEqual(queries, 12)
    assert.strictEqual(metrics["MRR@10"].difference, 0.75)
    assert.isBelow(metrics["hit@3"].p, 0.05)
    assert.deepStrictEqual(metrics["recall@20"], { difference: 0, interval: [0, 0], p: 1 })
  })
})
