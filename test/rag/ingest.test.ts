/** Only changed documents are written, and one bad file does not affect the others. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder, GatewayError, PartialFailure, ServerFailure } from "@sluice/core"
import { type IngestEvent, Library } from "@sluice/rag"
import { Effect, Fiber, Layer, Ref, Stream } from "effect"
import { readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { countingEmbedder, DIMENSION, embedText, modelsLayer, readerLayer, rerankerLayer } from "./Models.ts"
import { handbook, testFolder } from "./TestFolder.ts"

const counted = (options?: Parameters<typeof countingEmbedder>[0]) =>
  Effect.map(countingEmbedder(options), ({ count, layer }) => ({
    count,
    models: Layer.mergeAll(layer, rerankerLayer, readerLayer)
  }))

const textsOf = (library: typeof Library.Service) =>
  Effect.map(library.retrieve("boiler refunds cat stove anna", { recall: 50 }), ({ trace }) =>
    trace.passages.map(({ passage }) => passage.text)
  )

describe("ingest", () => {
  it.effect("embeds nothing if nothing changed, also after a restart", () =>
    Effect.gen(function* () {
      const { docs, library } = yield* handbook
      const { count, models } = yield* counted()
      const run = Effect.scoped(
        Effect.flatMap(Library.open(library), (opened) => opened.ingest(docs)).pipe(Effect.provide(models))
      )
      const first = yield* run
      assert.deepStrictEqual(
        [first.added, first.replaced, first.unchanged, first.removed, first.failed.length],
        [3, 0, 0, 0, 0]
      )
      const paid = yield* count
      assert.strictEqual(paid, first.passages)
      const second = yield* run
      assert.deepStrictEqual([second.added, second.unchanged, second.passages], [0, 3, 0])
      assert.strictEqual(yield* count, paid)
    }).pipe(Effect.scoped)
  )

  it.live("writes nothing after an interruption", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const { models } = yield* counted()
      const names = () => readdir(at, { recursive: true }).catch(() => [])
      const listing = Effect.promise(async () => (await names()).toSorted())
      for (const delay of [5, 10, 15, 20, 25, 30, 35, 40]) {
        const ingest = Effect.scoped(
          Effect.flatMap(Library.open(at), (opened) => opened.ingest(docs)).pipe(Effect.provide(models))
        )
        const running = yield* Effect.forkChild(ingest)
        yield* Effect.sleep(delay)
        yield* Fiber.interrupt(running)
        const left = yield* listing
        yield* Effect.sleep(50)
        assert.deepStrictEqual(yield* listing, left)
        yield* Effect.promise(() => rm(at, { recursive: true, force: true }))
      }
    }).pipe(Effect.scoped)
  )

  it.effect("replaces changed documents, removes deleted ones, and leaves the rest", () =>
    Effect.gen(function* () {
      const { docs, library: at, remove, write } = yield* handbook
      const { count, models } = yield* counted()
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        yield* library.ingest(docs)
        const before = yield* count
        yield* write("docs/boiler.md", "# Boiler\n\nThe boiler is gone.\n")
        yield* remove("docs/sub/cats.md")
        const report = yield* library.ingest(docs)
        assert.deepStrictEqual([report.replaced, report.removed, report.unchanged], [1, 1, 1])
        assert.strictEqual(yield* count, before + 1)
        const texts = (yield* textsOf(library)).join("\n")
        assert.include(texts, "The boiler is gone.")
        assert.notInclude(texts, "inspected every spring")
        assert.notInclude(texts, "cat sleeps")
        assert.deepStrictEqual(
          (yield* library.documents).map(({ path }) => path),
          ["boiler.md", "refunds.md"]
        )
      }).pipe(Effect.provide(models))
    }).pipe(Effect.scoped)
  )

  it.effect("distinguishes files of two folders, and recognizes a moved folder", () =>
    Effect.gen(function* () {
      const { docs, folder, library: at, write } = yield* handbook
      const { count, models } = yield* counted()
      yield* write("other/boiler.md", "# Boiler\n\nAnother boiler stands in another house.\n")
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        yield* library.ingest(docs)
        const other = yield* library.ingest(join(folder, "other"))
        assert.deepStrictEqual([other.added, other.replaced, other.removed], [1, 0, 0])
        assert.strictEqual((yield* library.documents).length, 4)
        const before = yield* count
        yield* Effect.promise(() => rename(docs, join(folder, "moved")))
        const moved = yield* library.ingest(join(folder, "moved"))
        assert.deepStrictEqual([moved.unchanged, moved.added, moved.removed], [3, 0, 0])
        assert.strictEqual(yield* count, before)
        // The folder owns its files now: deleting one removes its document.
        yield* Effect.promise(() => rename(join(folder, "moved/refunds.md"), join(folder, "kept.md")))
        assert.strictEqual((yield* library.ingest(join(folder, "moved"))).removed, 1)
      }).pipe(Effect.provide(models))
    }).pipe(Effect.scoped)
  )

  it.effect("keeps both places of a text in two documents", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* testFolder
      const text = "# Notice\n\nThe lift is out of order until Monday.\n"
      yield* write("docs/first.md", text)
      yield* write("docs/second.md", text)
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const { trace } = yield* library.retrieve("When is the lift out of order?")
      assert.deepStrictEqual(trace.passages.map(({ passage }) => passage.document.path).toSorted(), [
        "first.md",
        "second.md"
      ])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("reports bad files, ingests the rest, and keeps the old version of a bad file", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* handbook
      yield* write("docs/picture.gif", new Uint8Array([0x47, 0x49, 0x46, 0x38]))
      yield* write("docs/binary.txt", new Uint8Array([0, 1, 2, 255, 254, 0, 0, 7]))
      yield* write("docs/empty.md", "")
      const library = yield* Library.open(at)
      const report = yield* library.ingest(docs)
      assert.strictEqual(report.added, 3)
      assert.deepStrictEqual(report.failed.map(({ error, path }) => `${path} ${error.reason}`).toSorted(), [
        "binary.txt Malformed",
        "empty.md Empty",
        "picture.gif UnsupportedFormat"
      ])
      yield* write("docs/refunds.md", new Uint8Array([0, 1, 2, 255, 254, 0, 0, 7]))
      const again = yield* library.ingest(docs)
      assert.deepStrictEqual([again.failed.length, again.removed], [4, 0])
      assert.include((yield* textsOf(library)).join("\n"), "within fourteen days")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("reports a missing source, and removes nothing", () =>
    Effect.gen(function* () {
      const { docs, folder, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const error = yield* Effect.flip(library.ingest(join(folder, "nowhere")))
      assert.deepStrictEqual([error.reason, error.stage], ["NotFound", "ingest"])
      yield* Effect.promise(() => rename(docs, join(folder, "away")))
      yield* Effect.flip(library.ingest(docs))
      assert.strictEqual((yield* library.documents).length, 3)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("emits each document once, after it is on disk, and the report last", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      const seen: Array<IngestEvent> = []
      yield* Stream.runForEach(library.ingestEvents(docs), (event) =>
        Effect.gen(function* () {
          seen.push(event)
          if (event.type !== "document") return
          const there = yield* library.documents
          assert.include(
            there.map(({ path }) => path),
            event.path
          )
        })
      )
      assert.deepStrictEqual(seen[0], { type: "found", files: 3 })
      assert.strictEqual(seen.at(-1)?.type, "done")
      assert.strictEqual(seen.filter(({ type }) => type === "document").length, 3)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("ingests uploads, replaces the same path, and removes nothing", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const bytes = (text: string) => new TextEncoder().encode(text)
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const report = yield* library.ingest({
        files: Stream.make(
          { path: "up/load.md", bytes: bytes("# Up\n\nThe first words.\n") },
          { path: "up/load.md", bytes: bytes("# Up\n\nThe second words.\n") },
          { path: "..", bytes: bytes("nothing") }
        )
      })
      assert.deepStrictEqual([report.added, report.replaced, report.removed], [1, 1, 0])
      assert.deepStrictEqual(
        report.failed.map(({ error }) => error.reason),
        ["Malformed"]
      )
      const uploaded = (yield* library.documents).filter(({ path }) => path === "up/load.md")
      assert.strictEqual(uploaded.length, 1)
      const { bytes: stored } = yield* library.file(uploaded[0]!.id)
      assert.include(new TextDecoder().decode(stored), "The second words.")
      assert.strictEqual((yield* library.ingest(docs)).unchanged, 3)
      assert.strictEqual((yield* library.documents).length, 4)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("keeps paid vectors if a part of a call fails", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const asked = yield* Ref.make<ReadonlyArray<string>>([])
      const down = yield* Ref.make(true)
      const flaky = Layer.succeed(
        Embedder,
        Embedder.of({
          model: { id: "paid", kind: "neural", free: false },
          dimension: Effect.succeed(DIMENSION),
          embed: (texts) =>
            Effect.gen(function* () {
              yield* Ref.update(asked, (before) => [...before, ...texts])
              const vectors = texts.map((text) => embedText(text))
              const bad = texts.flatMap((text, i) => (text.includes("cat") ? [i] : []))
              if (!(yield* Ref.get(down)) || bad.length === 0) return { vectors, tokens: 1 }
              const first = new ServerFailure({ message: "overloaded", status: 503 })
              const kept = new Map(vectors.flatMap((vector, i) => (bad.includes(i) ? [] : [[i, vector]])))
              return yield* new GatewayError({
                operation: "embeddings",
                reason: new PartialFailure({ message: "1 batch failed", failed: bad, kept, first })
              })
            })
        })
      )
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        const report = yield* library.ingest(docs)
        assert.deepStrictEqual([report.added, report.failed.length], [2, 1])
        assert.deepStrictEqual(
          report.failed.map(({ error, path }) => [path, error.reason]),
          [["sub/cats.md", "Model"]]
        )
        assert.match(report.failed[0]!.error.message, /overloaded\. Retry later\. What succeeded is kept\.$/)
        yield* Ref.set(down, false)
        yield* Ref.set(asked, [])
        assert.deepStrictEqual((yield* library.ingest(docs)).added, 1)
        assert.strictEqual((yield* Ref.get(asked)).length, 1)
        // A second collection of the same texts costs nothing.
        yield* Ref.set(asked, [])
        const twin = yield* Library.open(at, { collection: "twin" })
        assert.strictEqual((yield* twin.ingest(docs)).added, 3)
        assert.deepStrictEqual(yield* Ref.get(asked), [])
      }).pipe(Effect.provide(Layer.mergeAll(flaky, rerankerLayer, readerLayer)))
    }).pipe(Effect.scoped)
  )

  for (const [fault, answer] of [
    ["too few vectors", (texts: ReadonlyArray<string>) => texts.slice(1).map((text) => embedText(text))],
    ["a short vector", (texts: ReadonlyArray<string>) => texts.map((text) => embedText(text).slice(1))],
    [
      "a number that is not finite",
      (texts: ReadonlyArray<string>) => texts.map((text) => embedText(text).fill(NaN, 0, 1))
    ]
  ] as const) {
    it.effect(`stores nothing of a model that returns ${fault}`, () =>
      Effect.gen(function* () {
        const { docs, library: at } = yield* handbook
        const liar = Layer.succeed(
          Embedder,
          Embedder.of({
            model: { id: "liar", kind: "lexical", free: true },
            dimension: Effect.succeed(DIMENSION),
            embed: (texts) => Effect.succeed({ vectors: answer(texts), tokens: 0 })
          })
        )
        yield* Effect.gen(function* () {
          const library = yield* Library.open(at)
          const report = yield* library.ingest(docs)
          assert.deepStrictEqual(
            report.failed.map(({ error }) => error.reason),
            ["Model", "Model", "Model"]
          )
          assert.strictEqual((yield* library.stats).passages, 0)
          assert.include(report.failed[0]!.error.message, "None of it was stored")
          const asked = yield* Effect.flip(library.retrieve("Where is the grey cat?"))
          assert.match(asked.message, /^The embedding model liar returned .*\. Check which/)
          assert.notInclude(asked.message, "stored")
        }).pipe(Effect.provide(Layer.mergeAll(liar, rerankerLayer, readerLayer)))
      }).pipe(Effect.scoped)
    )
  }
})
