/** A passage that is found again is the same object, until so many others were found; and none of them changes. */
import { rerankScores } from "@sluice/embedded"
import { assert, describe, it } from "@effect/vitest"
import { foundPassage } from "../../packages/rag/src/store/lance/FoundPassages.ts"

const jsonOf = (ordinal: number, text: string): string =>
  JSON.stringify({
    document: { id: "d", path: "tides.md", title: "Tides", format: "markdown" },
    ordinal,
    start: 0,
    end: text.length,
    text,
    headings: ["Tides"]
  })

describe("passages that were found", () => {
  it("are the same object again, of the same content alone, and cannot be changed", () => {
    const first = foundPassage(jsonOf(1, "The gate closes."))
    assert.strictEqual(foundPassage(jsonOf(1, "The gate closes.")), first)
    assert.notStrictEqual(foundPassage(jsonOf(1, "The gate opens.")), first)
    assert.throws(() => Object.assign(first, { text: "Nothing." }))
    assert.throws(() => (first.headings as Array<string>).push("More"))
    assert.throws(() => Object.assign(first.document, { title: "Ebb" }))
  })

  it("are forgotten when many others were found since", () => {
    const first = foundPassage(jsonOf(2, "The lock is full."))
    for (let i = 0; i < 14; i++) foundPassage(jsonOf(10 + i, `${i} ${"x".repeat(1_000_000)}`))
    const again = foundPassage(jsonOf(2, "The lock is full."))
    assert.notStrictEqual(again, first)
    assert.deepStrictEqual(again, first)
  })
})

describe("documents that are ranked again", () => {
  const documents = Array.from({ length: 12 }, (_, i) => ({
    ...(i % 3 === 0 ? {} : { title: `Gate ${i} of the lock` }),
    text: `The ${i % 2 === 0 ? "upper" : "lower"} gate number ${i} closes ${i} hours before high water. 水闸${i}关闭。`
  }))
  const scores = () => rerankScores("When does the lower gate close?", documents)
  const fresh = () =>
    rerankScores(
      "When does the lower gate close?",
      documents.map((one) => ({ ...one }))
    )

  it("have the same scores, whether their terms were known or not, or forgotten meanwhile", () => {
    const first = scores()
    assert.deepStrictEqual(scores(), first)
    assert.deepStrictEqual(fresh(), first)
    // More words than are remembered.
    const words = Array.from({ length: 45_000 }, (_, i) => `w${i.toString(36)}q`).join(" ")
    rerankScores("w1q", [{ text: words }])
    assert.deepStrictEqual(scores(), first)
    assert.deepStrictEqual(fresh(), first)
  })
})
