/** Metadata is stored, changed without embedding, and rejected unless it is JSON. */
import { assert, describe, it } from "@effect/vitest"
import { Filter, type IngestSource, Library, type Metadata } from "@sluice/rag"
import { METADATA_BYTES } from "@sluice/rag/store"
import { Effect, Layer, Stream } from "effect"
import { countingEmbedder, modelsLayer, readerLayer, rerankerLayer } from "./Models.ts"
import { handbook, testFolder } from "./TestFolder.ts"

const bytes = new TextEncoder().encode("# Up\n\nUploaded words about the boiler.\n")

const metadataOf = (library: typeof Library.Service) =>
  Effect.map(library.documents, (documents) => documents.map(({ metadata }) => metadata))

const circle: Record<string, unknown> = {}
circle["me"] = circle

describe("metadata", () => {
  it.effect("of folders and uploads is stored, and changed without embedding again", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const { count, layer } = yield* countingEmbedder()
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        const source = (year: number): IngestSource => ({
          folder: docs,
          metadata: (path) => ({ year, "own key": { deep: [path, null, true, 0.5] } })
        })
        const due = (year: number) =>
          ["boiler.md", "refunds.md", "sub/cats.md"].map((path) => ({
            year,
            "own key": { deep: [path, null, true, 0.5] }
          }))
        assert.strictEqual((yield* library.ingest(source(2025))).added, 3)
        assert.deepStrictEqual(yield* metadataOf(library), due(2025))
        const paid = yield* count
        assert.strictEqual((yield* library.ingest(source(2025))).unchanged, 3)
        const changed = yield* library.ingest(source(2026))
        assert.deepStrictEqual([changed.replaced, changed.passages, changed.removed], [3, 0, 0])
        assert.deepStrictEqual(yield* metadataOf(library), due(2026))
        const found = (year: number) =>
          library
            .retrieve("boiler refunds cat", { filter: Filter.equals(["metadata", "year"], year) })
            .pipe(Effect.map(({ trace }) => trace.passages.length))
        assert.deepStrictEqual([yield* found(2025), yield* found(2026)], [0, 3])
        // Without metadata the present metadata stays, also for a new version of the file.
        assert.strictEqual((yield* library.ingest(docs)).unchanged, 3)
        assert.deepStrictEqual(yield* metadataOf(library), due(2026))
        assert.strictEqual(yield* count, paid)
        assert.isTrue((yield* library.ask("Who holds the key to the boiler room?")).found)
        yield* Stream.runDrain(library.rebuild)
        assert.deepStrictEqual(yield* metadataOf(library), due(2026))
        yield* library.ingest({ folder: docs, metadata: () => ({}) })
        assert.deepStrictEqual(yield* metadataOf(library), [{}, {}, {}])
      }).pipe(Effect.provide(Layer.mergeAll(layer, rerankerLayer, readerLayer)))
    }).pipe(Effect.scoped)
  )

  it.effect("of a repeated path is that of the last upload", () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const library = yield* Library.open(at)
      const upload = (metadata?: Metadata) => ({ path: "up.md", bytes, metadata })
      yield* library.ingest({ files: [upload({ n: 1 }), upload({ n: 2 })] })
      assert.deepStrictEqual(yield* metadataOf(library), [{ n: 2 }])
      yield* library.ingest({ files: [upload({ n: 3 }), upload({ n: 2 }), upload()] })
      assert.deepStrictEqual(yield* metadataOf(library), [{ n: 2 }])
      assert.strictEqual((yield* library.stats).documents, 1)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("is rejected if it is not JSON or too large, and the other files are ingested", () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const library = yield* Library.open(at)
      const bad: ReadonlyArray<readonly [unknown, string, RegExp]> = [
        [{ ok: { when: new Date(0) } }, "Malformed", /"ok"\.when is a Date/],
        [{ n: [1, Number.NaN] }, "Malformed", /"n"\.1 is NaN/],
        [{ missing: undefined }, "Malformed", /"missing" is of type undefined/],
        [{ big: 1n }, "Malformed", /of type bigint/],
        [circle, "Malformed", /levels deep/],
        [["a list"], "Malformed", /not a plain object/],
        ["a text", "Malformed", /not a plain object/],
        [{ long: "ü".repeat(METADATA_BYTES / 2) }, "TooLarge", /65\d\d\d bytes/]
      ]
      const report = yield* library.ingest({
        files: [
          ...bad.map(([metadata], i) => ({ path: `bad${i}.md`, bytes, metadata: metadata as Metadata })),
          { path: "good.md", bytes, metadata: { 'it\'s "quoted"; --': "完全\n🙂", "": { "a.b": [] } } }
        ]
      })
      assert.strictEqual(report.added, 1)
      report.failed.forEach(({ error, path }, i) => {
        assert.deepStrictEqual([path, error.reason], [`bad${i}.md`, bad[i]![1]])
        assert.match(error.message, bad[i]![2])
      })
      assert.strictEqual(report.failed.length, bad.length)
      assert.deepStrictEqual(yield* metadataOf(library), [
        { 'it\'s "quoted"; --': "完全\n🙂", "": { "a.b": [] } }
      ])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("of a function that throws fails that file only", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      const report = yield* library.ingest({
        folder: docs,
        metadata: (path) => {
          if (path === "refunds.md") throw new Error("no such author")
          return { path }
        }
      })
      assert.deepStrictEqual([report.added, report.failed.length], [2, 1])
      assert.include(report.failed[0]?.error.message, "no such author")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
