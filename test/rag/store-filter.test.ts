import { assert, describe, it } from "@effect/vitest"
import { Filter, type FilterField, type FilterValue, type MetadataValue } from "@sluice/rag"
import { matches } from "@sluice/rag/retrieval"
import { Effect } from "effect"
import { embedText } from "./Models.ts"
import { random } from "./RandomDocument.ts"
import { collectionIn, documentOf } from "./StoredDocuments.ts"
import { testFolder } from "./TestFolder.ts"

const NASTY = [
  "it's",
  "''",
  "'; DROP TABLE x; --",
  "/* a */",
  "100%",
  "a_b",
  "a\\b",
  "\\'",
  '"q"',
  "`b`",
  "line\nfeed",
  "nul\u0000",
  "文件（一）",
  "🦆",
  "\uff08",
  "$1 ? {x}",
  "true",
  "null",
  "",
  "x".repeat(10_240)
]

const draw = (seed: number) => {
  const next = random(seed)
  const pick = <A>(all: ReadonlyArray<A>): A => all[Math.floor(next() * all.length)]!
  const text = () => pick(NASTY) + pick(["", "", "a", "'", "%", "🦆"])
  const scalar = (): FilterValue => pick([text(), pick([0, 1, 2, 3, -1, 2.5, 1e12]), next() < 0.5, null])
  const keys = ["camelCase", "a.b", "with space", "it's", "__proto__x", "文"]
  const value = (depth: number): MetadataValue =>
    depth > 0 && next() < 0.3
      ? next() < 0.5
        ? Array.from({ length: Math.floor(next() * 3) }, () => value(depth - 1))
        : Object.fromEntries([[pick(keys), value(depth - 1)]])
      : scalar()
  const metadata = () =>
    next() < 0.2
      ? undefined
      : Object.fromEntries(keys.filter(() => next() < 0.6).map((key) => [key, value(2)]))
  const field = (): FilterField =>
    next() < 0.4
      ? ["metadata", pick(keys), ...(next() < 0.3 ? [pick(keys)] : [])]
      : pick(["document", "path", "title", "format", "kind", "page"] as const)
  /** `there` gives a value that some document has in that field. */
  const filter = (depth: number, there: (field: FilterField) => FilterValue): Filter => {
    const of = field()
    // Another format or kind than there is would be refused.
    const few = of === "format" || of === "kind"
    const known = (): FilterValue => (few || next() < 0.8 ? there(of) : scalar())
    const end = () => {
      const value = next() < 0.8 ? known() : undefined
      return typeof value === "string" || typeof value === "number" ? value : undefined
    }
    const kind = depth === 0 ? next() * 4 : next() * 8
    if (kind < 1) return Filter.equals(of, known())
    if (kind < 2) return Filter.in(of, [known(), known(), known()].slice(Math.floor(next() * 4)))
    if (kind < 3) return Filter.range(of, { from: end(), to: end() })
    if (kind < 4) return Filter.prefix(of, String(known()).slice(0, Math.floor(next() * 4)))
    const parts = Array.from({ length: Math.floor(next() * 4) }, () => filter(depth - 1, there))
    if (kind < 5.5) return Filter.and(...parts)
    return kind < 7 ? Filter.or(...parts) : Filter.not(filter(depth - 1, there))
  }
  return { next, pick, text, metadata, filter }
}

describe("a filtered search", () => {
  it.effect("finds exactly the matching passages, by vector and by words", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      const { filter, metadata, next, pick, text } = draw(20_261_121)
      const documents = Array.from({ length: 30 }, (_, i) =>
        documentOf(`${text()}${i}`, ["duck one", "duck two", "duck three"], {
          title: text(),
          metadata: metadata(),
          pages: [undefined, 1, Math.floor(next() * 5)],
          kinds: [undefined, pick(["figure", undefined]), "table"]
        })
      )
      yield* collection.commit(documents)
      const there = (field: FilterField): FilterValue => {
        const { info } = pick(documents)
        if (field === "document") return info.id
        if (field === "page") return pick([null, 1, 2, 3, 4])
        if (field === "kind") return pick(["passage", "figure", "table"])
        if (typeof field === "string") return info[field]
        const value = info.metadata?.[field[1]]
        return typeof value === "string" || typeof value === "number" ? value : null
      }
      const all = yield* collection.search({ vector: embedText("duck"), limit: 1000 })
      assert.strictEqual(all.length, 90)
      const attached = new Map(documents.map(({ info }) => [info.id, info.metadata]))
      let some = 0
      for (let round = 0; round < 100; round++) {
        const asked = filter(2, there)
        const due = all.filter(({ passage }) =>
          matches(asked, { passage, metadata: attached.get(passage.document.id) })
        )
        if (due.length > 0 && due.length < all.length) some++
        for (const how of [{ vector: embedText("duck") }, { words: "duck" }]) {
          const hits = yield* collection.search({ ...how, limit: 1000, filter: asked })
          assert.deepStrictEqual(
            hits.map(({ passage }) => passage.id).toSorted(),
            due.map(({ passage }) => passage.id).toSorted(),
            JSON.stringify(asked).slice(0, 2000)
          )
        }
      }
      assert.isAbove(some, 50)
    }).pipe(Effect.scoped)
  )

  it.effect("fills the limit with matching passages, however far away they are", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      const near = Array.from({ length: 40 }, (_, d) =>
        documentOf(
          `near ${d}`,
          Array.from({ length: 60 }, (_, i) => `w${i % 7} duck pond item${d * 60 + i}`)
        )
      )
      const far = documentOf(
        "far",
        Array.from({ length: 30 }, (_, i) => `zebra gnu item${i}`),
        { metadata: { herd: "it's" } }
      )
      yield* collection.commit([...near, far])
      yield* collection.settle
      for (const filter of [Filter.equals(["metadata", "herd"], "it's"), Filter.prefix("path", "fa")]) {
        const hits = yield* collection.search({ vector: embedText("duck pond item"), limit: 20, filter })
        assert.strictEqual(hits.length, 20)
        assert.isTrue(hits.every(({ passage }) => passage.document.path === "far"))
      }
    }).pipe(Effect.scoped)
  )

  it.effect("uses the current metadata", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      yield* collection.commit([documentOf("a", ["duck"], { metadata: { state: "draft" } })])
      const drafts = collection.search({
        vector: embedText("duck"),
        limit: 5,
        filter: Filter.equals(["metadata", "state"], "draft")
      })
      assert.strictEqual((yield* drafts).length, 1)
      const stored = yield* collection.inventory
      yield* collection.adopt(
        stored.map((document) => ({ ...document, info: { ...document.info, metadata: { state: "final" } } }))
      )
      assert.strictEqual((yield* drafts).length, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("refuses invalid and too large filters", () =>
    Effect.gen(function* () {
      const { library } = yield* testFolder
      const collection = yield* collectionIn(library)
      yield* collection.commit([documentOf("a", ["duck"])])
      const reasonOf = (filter: unknown) =>
        Effect.map(
          Effect.flip(collection.search({ vector: embedText("duck"), limit: 5, filter: filter as Filter })),
          ({ message, reason }) => {
            assert.isBelow(message.length, 1000)
            return reason
          }
        )
      for (const filter of [
        { _tag: "Equals", field: "id; --", value: "x" },
        { _tag: "Equals", field: "vector", value: "x" },
        { _tag: "Equals", field: ["meta", "x"], value: "x" },
        { _tag: "Equals", field: ["metadata"], value: "x" },
        { _tag: "Equals", field: "path", value: { toString: "x" } },
        { _tag: "Range", field: "page", from: Number.NaN },
        { _tag: "Range", field: "page", gte: 3 },
        { _tag: "Sql", where: "true" },
        "true",
        null
      ])
        assert.strictEqual(yield* reasonOf(filter), "Malformed", JSON.stringify(filter))
      const nested = Array.from({ length: 5_000 }).reduce<Filter>((inner) => Filter.not(inner), Filter.and())
      assert.strictEqual(yield* reasonOf(nested), "TooLarge")
      const wide = Filter.or(...Array.from({ length: 20_000 }, (_, i) => Filter.equals("page", i)))
      assert.strictEqual(yield* reasonOf(wide), "TooLarge")
    }).pipe(Effect.scoped)
  )
})
