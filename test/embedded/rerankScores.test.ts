import { rerankScores } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

const best = (
  query: string,
  ...documents: ReadonlyArray<{ readonly title?: string; readonly text: string }>
) => {
  const scores = rerankScores(query, documents)
  return scores.indexOf(Math.max(...scores))
}

describe("rerankScores", () => {
  it("does not depend on the order of the documents", () => {
    const documents = [
      "Grease the racks.",
      "Lower gate",
      "The lower gate is greased",
      "闸门每周上油",
      ""
    ].map((text) => ({ text }))
    const scores = [...rerankScores("grease the gate", documents)]
    expect([...rerankScores("grease the gate", documents.toReversed())].toReversed()).toEqual(
      scores.map((score) => expect.closeTo(score, 10))
    )
    expect(scores.every((score) => score > 0 && score < 1)).toBe(true)
  })

  it("prefers the title, the order of the words, and the rarer word", () => {
    expect(
      best("gauge", { title: "Rain", text: "See the gauge." }, { title: "Gauge", text: "See the rain." })
    ).toBe(1)
    expect(
      best(
        "white mark",
        { text: "mark it, keep all of it white" },
        { text: "keep behind the white mark there" }
      )
    ).toBe(1)
    expect(best("new windlass", { text: "A new day at home" }, { text: "A windlass for boats" })).toBe(1)
  })

  it("lets what is rare among the candidates decide between equals", () => {
    const keepers = Array.from({ length: 6 }, (_, i) => ({ text: `The keeper has page ${i}` }))
    const office = { text: "The office has page 7" }
    const offices = Array.from({ length: 6 }, (_, i) => ({ text: `The office has page ${i}` }))
    const keeper = { text: "The keeper has page 7" }
    const share = (documents: ReadonlyArray<{ readonly text: string }>, i: number) =>
      rerankScores("office keeper", documents)[i] ?? 0
    const rareOffice = share([...keepers, office], 6) - share([...keepers, office], 0)
    const rareKeeper = share([...offices, keeper], 0) - share([...offices, keeper], 6)
    expect(rareOffice).toBeGreaterThan(rareKeeper)
  })

  it("forgives a misspelt word", () => {
    expect(best("windlas", { text: "Boats moor here" }, { text: "A windlass is lent" })).toBe(1)
  })

  it("accepts questions and documents without a word", () => {
    expect([...rerankScores("?!", [{ text: "one" }, { text: "" }])].every(Number.isFinite)).toBe(true)
    expect([...rerankScores("", [])]).toEqual([])
    expect(best("the who", { text: "somebody" }, { text: "The Who" })).toBe(1)
  })
})
