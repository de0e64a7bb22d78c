/** A rebuild replaces a collection at once, while others read and write it. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder, GatewayError, Unauthorized } from "@sluice/core"
import { Library, type RagError } from "@sluice/rag"
import { Deferred, Effect, Exit, Fiber, Layer, Ref, Stream } from "effect"
import { TestClock } from "effect/testing"
import { setImmediate } from "node:timers/promises"
import {
  countingEmbedder,
  DIMENSION,
  embedText,
  modelsLayer,
  readerLayer,
  rerankerLayer
} from "../rag/Models.ts"
import { documentOf, MANIFEST, storeIn } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"

const DOCUMENTS = 30
const WORDS = "the boiler of house"

const manyDocuments = Effect.gen(function* () {
  const test = yield* testFolder
  for (let i = 0; i < DOCUMENTS; i++)
    yield* test.write(
      `docs/house${i}.md`,
      `# House ${i}\n\n${Array.from({ length: 5 }, (_, part) => `## Part ${part}\n\n${`The boiler of house ${i} stands in room ${part}. `.repeat(8)}`).join("\n\n")}\n`
    )
  return test
})

/** The reader's results, which are the same before, during and after the rebuild. */
const seen = (library: typeof Library.Service) =>
  Effect.gen(function* () {
    const { documents, passages } = yield* library.stats
    const { trace } = yield* library.retrieve(WORDS, { recall: 30 })
    return { documents, passages, recalled: trace.passages.length }
  })

describe("rebuild", () => {
  it.live("shows every reader a complete collection at any time", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* manyDocuments
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const other = yield* Library.open(at)
      const before = yield* seen(library)
      assert.deepStrictEqual([before.documents, before.recalled], [DOCUMENTS, 30])
      const asked = yield* Ref.make(0)
      const reader = yield* Effect.forkChild(
        Effect.forever(
          Effect.gen(function* () {
            assert.deepStrictEqual(yield* seen(other), before)
            yield* Ref.update(asked, (n) => n + 1)
          })
        )
      )
      let events = 0
      yield* Stream.runForEach(library.rebuild, () =>
        Effect.gen(function* () {
          if (++events % 6 === 0) assert.deepStrictEqual(yield* seen(library), before)
        })
      )
      assert.deepStrictEqual(yield* seen(library), before)
      assert.isUndefined(reader.pollUnsafe(), "the reader never saw anything else")
      yield* Fiber.interrupt(reader)
      assert.isTrue((yield* Ref.get(asked)) > 0 && events > DOCUMENTS)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("loses no concurrent write, or fails it", () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const upload = (path: string, text: string) => ({
        path,
        bytes: new TextEncoder().encode(`# ${path}\n\n${text}\n`)
      })
      const [library, other] = [yield* Library.open(at), yield* Library.open(at)]
      yield* library.ingest({
        files: ["stays", "changes", "goes"].map((name) => upload(`${name}.md`, "The boiler."))
      })
      const changes = Effect.gen(function* () {
        yield* other.ingest({
          files: [upload("comes.md", "A stove."), upload("changes.md", "A stove, not a boiler.")]
        })
        const goes = (yield* other.documents).find(({ path }) => path === "goes.md")!
        yield* other.remove(goes.id)
      })
      yield* Stream.runForEach(library.rebuild, ({ type }) => (type === "committed" ? changes : Effect.void))
      yield* other.ingest({ files: [upload("later.md", "Another stove.")] })
      yield* Effect.forEach([library, other, yield* Library.open(at)], (each) =>
        Effect.gen(function* () {
          const paths = (yield* each.documents).map(({ path }) => path)
          assert.deepStrictEqual(paths, ["changes.md", "comes.md", "later.md", "stays.md"])
          const { kept } = yield* each.retrieve("stove, not a boiler")
          assert.strictEqual(kept[0]?.document.path, "changes.md")
        })
      )

      const stores = [yield* storeIn(at), yield* storeIn(at)] as const
      const held = yield* stores[0].open("names", MANIFEST)
      const { publish } = yield* stores[1].replace("names", MANIFEST)
      assert.isTrue(yield* publish(Effect.void))
      for (const write of [held.commit([documentOf("late", ["duck"])]), held.remove(["late"])])
        assert.strictEqual((yield* Effect.flip(write)).reason, "Stale")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.live("leaves the collection unchanged if a concurrent write cannot be copied", () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const upload = (path: string) => ({ path, bytes: new TextEncoder().encode(`# ${path}\n\nA stove.\n`) })
      const writer = yield* Library.open(at)
      yield* writer.ingest({ files: [upload("first.md")] })
      // Each is written while the one before is copied. The model rejects the last one.
      const next = new Map([
        ["first.md", "second.md"],
        ["second.md", "last.md"]
      ])
      const fails = Layer.succeed(
        Embedder,
        Embedder.of({
          model: { id: "other-words", kind: "neural", free: true },
          dimension: Effect.succeed(DIMENSION),
          embed: (texts) =>
            Effect.gen(function* () {
              if (texts.some((text) => text.includes("last.md")))
                return yield* new GatewayError({
                  operation: "embeddings",
                  reason: new Unauthorized({ message: "the quota is spent" })
                })
              const path = [...next.keys()].find((path) => texts.some((text) => text.includes(path))) ?? ""
              const following = next.get(path)
              next.delete(path)
              if (following !== undefined) yield* Effect.orDie(writer.ingest({ files: [upload(following)] }))
              return { vectors: texts.map((text) => embedText(text)), tokens: 0 }
            })
        })
      )
      const error = yield* Effect.flip(Stream.runDrain(Library.rebuild(at)).pipe(Effect.provide(fails)))
      assert.match(error.message, /last\.md; the collection is unchanged/)
      const paths = (yield* (yield* Library.open(at)).documents).map(({ path }) => path)
      assert.deepStrictEqual(paths, ["first.md", "last.md", "second.md"])
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("makes writers wait while it publishes, and tries again if they do not", () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const [store, other] = [yield* storeIn(at), yield* storeIn(at)]
      const held = yield* store.open("names", MANIFEST)
      const { next, publish } = yield* other.replace("names", MANIFEST)
      const early = documentOf("early", ["duck"])
      const ready = yield* Deferred.make<Fiber.Fiber<void, RagError>>()
      const writes = Effect.forkDetach(held.commit([early]))
      const ended = Effect.fnUntraced(function* (writing: Fiber.Fiber<void, RagError>) {
        while (writing.pollUnsafe() === undefined) {
          yield* TestClock.adjust("1 second")
          yield* Effect.promise(() => setImmediate())
        }
        yield* Fiber.join(writing)
      })
      // It waits as long as a live rebuild may take, and is then acknowledged: the name must not move.
      const dies = Effect.flatMap(writes, ended)
      assert.isFalse(yield* publish(dies))
      assert.strictEqual((yield* (yield* store.open("names", MANIFEST)).stats).passages, 1)
      // A write while the name moves is not acknowledged.
      const lives = Effect.gen(function* () {
        yield* Deferred.succeed(ready, yield* writes)
        yield* next.commit([early])
      })
      assert.isTrue(yield* publish(lives))
      assert.strictEqual((yield* Effect.flip(ended(yield* Deferred.await(ready)))).reason, "Stale")
      assert.strictEqual((yield* (yield* store.open("names", MANIFEST)).stats).passages, 1)
      // The name does not move if it refers to another table by now.
      assert.strictEqual((yield* Effect.flip(publish(Effect.void))).reason, "Stale")
    }).pipe(Effect.scoped)
  )

  it.live("fails if another rebuild was first", () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const stores = [yield* storeIn(at), yield* storeIn(at), yield* storeIn(at)]
      yield* stores[0]!.open("names", MANIFEST)
      const rebuilds = yield* Effect.forEach(stores, (store) => store.replace("names", MANIFEST))
      const ends = yield* Effect.forEach(rebuilds, ({ publish }) => Effect.exit(publish(Effect.void)), {
        concurrency: "unbounded"
      })
      assert.lengthOf(
        ends.filter((exit) => Exit.isSuccess(exit) && exit.value),
        1
      )
    }).pipe(Effect.scoped)
  )

  it.live("continues what an interrupted one has written, without what was changed or removed since", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* manyDocuments
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const { documents, passages } = yield* library.stats
      const embedder = yield* countingEmbedder({ id: "other-words" })
      const models = Layer.mergeAll(embedder.layer, rerankerLayer, readerLayer)
      const rebuild = (until: "committed" | "done") =>
        Library.rebuild(at).pipe(
          Stream.takeUntil(({ type }) => type === until),
          Stream.runLast,
          Effect.provide(models)
        )
      yield* rebuild("committed")
      assert.strictEqual(yield* embedder.count, passages)

      yield* write("docs/house0.md", "# House 0\n\nIt has no boiler.\n")
      yield* library.ingest(docs)
      const gone = (yield* library.documents).find(({ path }) => path === "house1.md")!
      yield* library.remove(gone.id)
      const seen = Effect.fnUntraced(function* (from: typeof Library.Service) {
        const paths = (yield* from.documents).map(({ path, sha256 }) => [path, sha256])
        return { paths, passages: (yield* from.stats).passages }
      })
      const before = yield* seen(library)
      assert.strictEqual(before.paths.length, documents - 1)
      yield* rebuild("done")
      // The one passage that is new.
      assert.strictEqual(yield* embedder.count, passages + 1)
      const rebuilt = yield* Library.open(at).pipe(Effect.provide(models))
      assert.deepStrictEqual(yield* seen(rebuilt), before)
      assert.strictEqual((yield* rebuilt.retrieve("no boiler")).kept[0]?.document.path, "house0.md")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.live("with another model lets readers of the old collection finish", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* manyDocuments
      const old = yield* Library.open(at)
      yield* old.ingest(docs)
      const before = yield* seen(old)
      const { layer } = yield* countingEmbedder({ id: "other-words", dimension: 32 })
      const models = Layer.mergeAll(layer, rerankerLayer, readerLayer)
      yield* Stream.runForEach(Library.rebuild(at), (event) =>
        event.type === "document" || event.type === "committed"
          ? Effect.map(seen(old), (now) => assert.deepStrictEqual(now, before))
          : Effect.void
      ).pipe(Effect.provide(models))
      assert.deepStrictEqual(yield* seen(yield* Library.open(at).pipe(Effect.provide(models))), before)
      const told = yield* Effect.flip(Effect.scoped(Library.open(at)))
      assert.strictEqual(told.reason, "ManifestMismatch")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})

describe("the vector cache of a folder", () => {
  it.effect("is shared by its collections and by a rebuild, but not by two models", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* manyDocuments
      const paid = yield* Ref.make(0)
      const modelsOf = (id: string) =>
        Layer.mergeAll(
          Layer.succeed(
            Embedder,
            Embedder.of({
              model: { id, kind: "neural", free: false },
              dimension: Effect.succeed(DIMENSION),
              embed: (texts, purpose) =>
                Effect.as(
                  Ref.update(paid, (n) => n + (purpose === "passage" ? texts.length : 0)),
                  { vectors: texts.map((text) => embedText(text)), tokens: texts.length }
                )
            })
          ),
          rerankerLayer,
          readerLayer
        )
      const passages = yield* Effect.gen(function* () {
        const first = yield* Library.open(at)
        yield* first.ingest(docs)
        const { passages } = yield* first.stats
        assert.strictEqual(yield* Ref.get(paid), passages)
        const second = yield* Library.open(at, { collection: "second" })
        assert.strictEqual((yield* second.ingest(docs)).added, DOCUMENTS)
        yield* Stream.runDrain(first.rebuild)
        assert.strictEqual(yield* Ref.get(paid), passages)
        return passages
      }).pipe(Effect.provide(modelsOf("paid")))
      const third = yield* Library.open(at, { collection: "third" }).pipe(Effect.provide(modelsOf("other")))
      yield* third.ingest(docs)
      assert.strictEqual(yield* Ref.get(paid), 2 * passages)
    }).pipe(Effect.scoped)
  )
})
