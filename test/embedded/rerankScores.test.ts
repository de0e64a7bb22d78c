import { Reranker } from "@sluice/core"
import { layerReranker, rerankScores } from "@sluice/embedded"
import { Effect } from "effect"
import { addPriors } from "../../packages/embedded/src/lexical/rerankScores.ts"
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

  it("does not count function words of German, French and Spanish", () => {
    const german = [{ text: "Wo die Boote warten, wird die Brücke geöffnet." }, { text: "Pumpe: täglich." }]
    expect(best("Wo wird die Pumpe geschmiert?", ...german)).toBe(1)
    const french = [{ text: "Quand est-ce que la porte se ferme ?" }, { text: "Vanne : le matin." }]
    expect(best("Quand est-ce que la vanne se règle ?", ...french)).toBe(1)
  })

  it("prefers matches in the title, in word order, and of rarer words", () => {
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

  it("prefers terms that are rare among the candidates", () => {
    const pages = (who: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ text: `The ${who} has page ${i}` }))
    const leaders = pages("office and its keeper", 3)
    /** How far the first office is ahead of the first keeper. */
    const ahead = (offices: number, keepers: number): number => {
      const documents = [...pages("office", offices), ...pages("keeper", keepers), ...leaders]
      const scores = rerankScores("office keeper", documents)
      return (scores[0] ?? 0) - (scores[offices] ?? 0)
    }
    expect(ahead(1, 6)).toBeGreaterThan(ahead(6, 1))
  })

  it("ranks documents for each topic of a query", () => {
    const moorings = ["north", "south", "east", "west", "upper", "lower"].map((place) => ({
      text: `The ${place} mooring of the harbour costs boats a fee by the night, which the harbour warden takes at the mooring.`
    }))
    const pump = {
      text: "Grease for the pump comes in red barrels; the crew of the workshop looks after it in spring."
    }
    const documents = [...moorings, pump]
    const ranks = (query: string) => {
      const scores = rerankScores(query, documents)
      return scores.filter((score) => score > (scores[moorings.length] ?? 0)).length + 1
    }
    expect(
      ranks("What fee does a boat pay by the night in the harbour, and in which barrels does grease come?")
    ).toBeLessThan(3)
    expect(ranks("What fee does a boat pay by the night in the harbour?")).toBe(documents.length)
  })

  it("does not rank an untitled document below titled ones that fit less", () => {
    const filler = "They are counted, oiled and put back on their racks before the boats return at night."
    const ways = ["The lock is filled by hand.", "A lock keeper rows home.", "See the racks below the lock."]
    const others = ways.map((text, i) => ({ title: `Lock and gate ${i}`, text: `${text} ${filler}` }))
    const own = `The paddles of a lock gate are greased in May, and each lock gate again in autumn. ${filler}`
    const query = "greasing the paddles of a lock gate"
    const bare = rerankScores(query, [{ text: own }, ...others])
    expect(bare.indexOf(Math.max(...bare))).toBe(0)
    // Where nobody has a title, nobody is given what titles say …
    const untitled = rerankScores(
      query,
      [{ text: own }, ...others].map(({ text }) => ({ text }))
    )
    expect(bare[0]).toBeGreaterThan(untitled[0] ?? 1)
    // … and a document that says nothing of the question gets nothing from the others' titles.
    const silent = { text: `Bread is sold on Fridays. ${filler}` }
    const alone = rerankScores(query, [silent, ...others.map(({ text }) => ({ text }))])
    expect(rerankScores(query, [silent, ...others])[0]).toBeLessThanOrEqual((alone[0] ?? 0) + 0.02)
  })

  it("weighs a long query as a whole, not its rarest words", () => {
    const need =
      "We would like to know how the paddles and gates of old locks are greased, painted, lifted and mended in winter, " +
      "what tools lock keepers use for it, which oils and paints last longest in water, how often boats and ice damage " +
      "the timber, and whether keepers of other canals have written of it. An umbrella, a xylophone or a zeppelin is of no interest."
    const locks = "Lock keepers grease the gates of a lock and mend the lock."
    const words = "Zeppelin, xylophone, umbrella, canals, tools, oils."
    expect(best(need, { text: words }, { text: locks })).toBe(1)
    expect(best("umbrella, xylophone or zeppelin", { text: words }, { text: locks })).toBe(0)
  })

  it("prefers a document with all words of a short query", () => {
    const all = {
      text: "A bus joins a processor to memory on one board, not by a backplane, and is therefore faster. Various makers sold theirs, each with connectors, clocks and voltages of its own, until one was agreed on."
    }
    const two = {
      title: "backplane",
      text: "Of backplanes there are various: this backplane takes various boards."
    }
    expect(best("faster backplane various", all, two)).toBe(0)
    expect(best("backplane various", all, two)).toBe(1)
  })

  it("uses the priors to choose feedback documents", () => {
    const documents = [
      "The gate is oiled at noon by boatmen",
      "The gate is painted in spring by millers",
      "At noon boatmen oiled the wheel",
      "In spring millers painted the wheel"
    ].map((text) => ({ text }))
    const nearer = (priors: ReadonlyArray<number>) => {
      const scores = rerankScores("gate", documents, priors)
      return Math.sign((scores[2] ?? 0) - (scores[3] ?? 0))
    }
    expect([nearer([1, 0, 0, 0]), nearer([0, 1, 0, 0])]).toEqual([1, -1])
    expect([...rerankScores("gate", documents, [0, 0, 0, 0])]).toEqual([...rerankScores("gate", documents)])
  })

  it("matches a misspelt word", () => {
    expect(best("windlas", { text: "Boats moor here" }, { text: "A windlass is lent" })).toBe(1)
  })

  it("scores a document again after it has changed", () => {
    const document = { text: "The grey cat sleeps." }
    const other = { text: "Nothing of that." }
    const [before] = rerankScores("boiler room", [document, other])
    document.text = "The boiler room is locked."
    const [after] = rerankScores("boiler room", [document, other])
    expect(after).toBeGreaterThan(before!)
    expect(after).toBe(rerankScores("boiler room", [Object.freeze({ ...document }), other])[0])
  })

  it("accepts queries and documents without a word", () => {
    expect([...rerankScores("?!", [{ text: "one" }, { text: "" }])].every(Number.isFinite)).toBe(true)
    expect([...rerankScores("", [])]).toEqual([])
    expect(best("the who", { text: "somebody" }, { text: "The Who" })).toBe(1)
  })
})

describe("addPriors", () => {
  const long = Array.from({ length: 80 }, (_, i) => `word${i}`).join(" ")
  const relevance = (query: string, scores: ReadonlyArray<number>, priors: ReadonlyArray<number>) => [
    ...addPriors(query, Float64Array.from(scores), priors)
  ]
  const order = (query: string, scores: ReadonlyArray<number>, priors: ReadonlyArray<number>) => {
    const values = relevance(query, scores, priors)
    return [...values.keys()].toSorted((a, b) => (values[b] ?? 0) - (values[a] ?? 0))
  }
  const priors = [0.25, 0, 1]

  it("scales the scores to 0–1 if the priors are 0", () => {
    expect(relevance(long, [0.5, 1.5, 1], [0, 0, 0])).toEqual([0, 1, 0.5])
    expect(relevance("gate", [0.5, 0.5], [0, 0])).toEqual([0, 0])
    expect(relevance("gate", [], [])).toEqual([])
  })

  it("lets a prior decide between close scores", () => {
    expect(order("gate", [0.1, 0.52, 0.5], priors)).toEqual([2, 1, 0])
    expect(order("gate", [0.1, 0.9, 0.5], priors)).toEqual([1, 2, 0])
    expect(order("gate", [0.1, 0.7, 0.5], priors)).toEqual([1, 2, 0])
  })

  it("weighs a prior half as much as a score for a long query", () => {
    expect(order(long, [0.1, 0.7, 0.5], priors)).toEqual([2, 1, 0])
  })

  it("counts the different words of a query, in every script", () => {
    const weight = (query: string) => relevance(query, [0, 0], [1, 0])[0]
    expect(weight("gate gate gate ".repeat(50))).toBe(weight("gate"))
    expect(weight(long)).toBe(0.5)
    expect(weight(Array.from({ length: 140 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join(""))).toBe(0.5)
    expect(weight("水位在什么时候测量")).toBeLessThan(0.2)
  })
})

describe("layerReranker", () => {
  it("orders by the relevance, and returns the score too", async () => {
    const documents = ["The gate is greased.", "The gate is painted.", "Boats wait."].map((text) => ({
      text
    }))
    const rank = (priors?: ReadonlyArray<number>) =>
      Effect.gen(function* () {
        const { rerank } = yield* Reranker
        return (yield* rerank("grease the gate", documents, priors && { priors })).results
      }).pipe(Effect.provide(layerReranker), Effect.runPromise)
    const plain = await rank()
    expect(plain.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(plain.every(({ relevance }) => relevance === undefined)).toBe(true)
    const withPriors = await rank([0, 0, 0])
    expect(withPriors.map(({ index, score }) => [index, score])).toEqual(
      plain.map(({ index, score }) => [index, score])
    )
    expect(withPriors.map(({ relevance }) => relevance)).toEqual(
      [...withPriors].map(({ relevance }) => relevance).toSorted((a = 0, b = 0) => b - a)
    )
  })
})
