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
