/** Fusion: one list from two, independent of the order of the hits. */
import { assert, describe, it } from "@effect/vitest"
import { Fusion } from "@sluice/rag"
import type { Hit } from "@sluice/rag/store"
import { Schema } from "effect"
import { fuse } from "../../packages/rag/src/retrieval/stages/Fuse.ts"
import { keywordPriors } from "../../packages/rag/src/retrieval/stages/Rerank.ts"
import { random } from "./RandomDocument.ts"

const passage = (id: string): Hit["passage"] => ({
  id,
  ordinal: 0,
  start: 0,
  end: 1,
  text: id,
  headings: [],
  lines: [],
  document: { id, path: id, title: id, format: "text" }
})

/** Two ranked lists that overlap, with some equal scores. */
const hitsOf = (seed: number): ReadonlyArray<Hit> => {
  const next = random(seed)
  const hits = new Map<string, Hit>()
  const leg = (rank: "vectorRank" | "keywordRank", score: "similarity" | "keywordScore", scale: number) => {
    const ids = new Set(Array.from({ length: Math.floor(next() * 30) }, () => `p${Math.floor(next() * 40)}`))
    const scores = [...ids].map(() => Math.ceil(next() * 8) * scale).toSorted((a, b) => b - a)
    for (const [i, id] of [...ids].entries()) {
      hits.set(id, { ...(hits.get(id) ?? { passage: passage(id) }), [rank]: i + 1, [score]: scores[i] })
    }
  }
  leg("vectorRank", "similarity", 0.1)
  leg("keywordRank", "keywordScore", 3)
  return [...hits.values()]
}

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed)
const FUSIONS: ReadonlyArray<Fusion> = [
  Fusion.rrf(),
  Fusion.rrf({ k: 0, weights: { vector: 1, keywords: 3 } }),
  Fusion.minMax(),
  Fusion.minMax({ weights: { vector: 0.2, keywords: 5 } }),
  Fusion.dense,
  Fusion.keywords
]
const idsOf = (fusion: Fusion, hits: ReadonlyArray<Hit>) =>
  fuse(fusion, hits).map(({ hit }) => hit.passage.id)
const byRank = (hits: ReadonlyArray<Hit>, rank: "vectorRank" | "keywordRank") =>
  hits
    .filter((hit) => hit[rank] !== undefined)
    .toSorted((a, b) => (a[rank] ?? 0) - (b[rank] ?? 0))
    .map((hit) => hit.passage.id)

describe("fuse", () => {
  it("returns the same list for hits in any order, best score first", () => {
    for (const seed of SEEDS) {
      const hits = hitsOf(seed)
      for (const fusion of FUSIONS) {
        const fused = fuse(fusion, hits)
        assert.deepStrictEqual(fuse(fusion, hits.toReversed()), fused)
        assert.deepStrictEqual(
          fused.map(({ score }) => score),
          fused.map(({ score }) => score).toSorted((a, b) => b - a)
        )
        if (fusion._tag === "Rrf" || fusion._tag === "MinMax") {
          assert.strictEqual(fused.length, hits.length)
          assert.isTrue(fused.every(({ score }) => score >= 0 && score <= 1 + 1e-12))
        }
      }
    }
  })

  it("is the order of one retriever if only that one has weight", () => {
    for (const seed of SEEDS) {
      const hits = hitsOf(seed)
      assert.deepStrictEqual(idsOf(Fusion.dense, hits), byRank(hits, "vectorRank"))
      assert.deepStrictEqual(idsOf(Fusion.keywords, hits), byRank(hits, "keywordRank"))
      for (const weights of [
        { vector: 1, keywords: 0 },
        { vector: 0, keywords: 2 }
      ]) {
        const leg = weights.vector > 0 ? "vectorRank" : "keywordRank"
        assert.deepStrictEqual(idsOf(Fusion.rrf({ weights }), hits), byRank(hits, leg))
        assert.deepStrictEqual(idsOf(Fusion.minMax({ weights }), hits), byRank(hits, leg))
      }
    }
  })

  it("never ranks a passage lower for a better rank or score of one retriever", () => {
    for (const seed of SEEDS) {
      const hits = hitsOf(seed)
      const both = hits.filter(
        ({ keywordRank, vectorRank }) => keywordRank !== undefined && vectorRank !== undefined
      )
      for (const better of both) {
        for (const worse of both) {
          const above = better.vectorRank! < worse.vectorRank! && better.keywordRank! < worse.keywordRank!
          if (!above) continue
          for (const fusion of FUSIONS) {
            const order = idsOf(fusion, hits)
            assert.isBelow(order.indexOf(better.passage.id), order.indexOf(worse.passage.id))
          }
        }
      }
    }
  })

  it("breaks ties by the better rank, then by the rank in vector search", () => {
    const tie: ReadonlyArray<Hit> = [
      { passage: passage("k"), keywordRank: 1, keywordScore: 7 },
      { passage: passage("v"), vectorRank: 1, similarity: 0.4 }
    ]
    for (const fusion of [Fusion.rrf(), Fusion.minMax()])
      assert.deepStrictEqual(idsOf(fusion, tie), ["v", "k"])
    const spread: ReadonlyArray<Hit> = [
      { passage: passage("second"), vectorRank: 2, similarity: 0.2 },
      { passage: passage("first"), vectorRank: 1, similarity: 0.2 }
    ]
    assert.deepStrictEqual(idsOf(Fusion.minMax(), spread), ["first", "second"])
  })

  it("adds weighted ranks or scores, and rejects negative weights", () => {
    const hits: ReadonlyArray<Hit> = [
      { passage: passage("a"), vectorRank: 1, similarity: 0.9, keywordRank: 3, keywordScore: 2 },
      { passage: passage("b"), vectorRank: 2, similarity: 0.5, keywordRank: 1, keywordScore: 6 },
      { passage: passage("c"), keywordRank: 2, keywordScore: 4 }
    ]
    const scores = (fusion: Fusion) =>
      Object.fromEntries(
        fuse(fusion, hits).map(({ hit, score }) => [hit.passage.id, Math.round(score * 1e4) / 1e4])
      )
    assert.deepStrictEqual(scores(Fusion.minMax({ weights: { vector: 3, keywords: 1 } })), {
      a: 0.75,
      b: 0.25,
      c: 0.125
    })
    assert.deepStrictEqual(scores(Fusion.rrf({ k: 1 })), { b: 0.8333, a: 0.75, c: 0.3333 })
    const decode = Schema.decodeUnknownSync(Fusion.schema)
    for (const fusion of FUSIONS) assert.deepStrictEqual(decode(JSON.parse(JSON.stringify(fusion))), fusion)
    assert.throws(() => decode({ _tag: "MinMax", weights: { vector: -1, keywords: 1 } }))
  })
})

describe("keywordPriors", () => {
  it("divides by the best score", () => {
    const priorsOf = (scores: ReadonlyArray<number | undefined>) =>
      keywordPriors(scores.map((keywordScore, i): Hit => ({ passage: passage(`p${i}`), keywordScore })))
    assert.deepStrictEqual(priorsOf([3, undefined, 12]), [0.25, 0, 1])
    assert.deepStrictEqual(priorsOf([undefined, undefined]), [0, 0])
    assert.deepStrictEqual(priorsOf([]), [])
  })
})
