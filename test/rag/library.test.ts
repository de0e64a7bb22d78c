/** The library as a service: opening, reading, rebuilding, refusing. */
import { assert, describe, it } from "@effect/vitest"
import { connect } from "@lancedb/lancedb"
import { Embedder } from "@sluice/core"
import { Library, type RagError } from "@sluice/rag"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import {
  countingEmbedder,
  DIMENSION,
  embedderLayer,
  embedText,
  modelsLayer,
  readerLayer,
  rerankerLayer
} from "./Models.ts"
import { HANDBOOK, handbook, testFolder } from "./TestFolder.ts"

const modelsWith = (options: { id?: string; dimension?: number }) =>
  Effect.map(countingEmbedder(options), ({ layer }) => Layer.mergeAll(layer, rerankerLayer, readerLayer))

describe("Library", () => {
  it.effect("returns documents, their text and their bytes", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const documents = yield* library.documents
      assert.deepStrictEqual(
        documents.map(({ path, title }) => `${path} ${title}`),
        ["boiler.md Boiler", "refunds.md Refunds", "sub/cats.md Cats"]
      )
      const { bytes, info } = yield* library.file(documents[2]!.id)
      assert.strictEqual(new TextDecoder().decode(bytes), HANDBOOK["docs/sub/cats.md"])
      assert.deepStrictEqual(info, documents[2])
      const { parsed } = yield* library.document(documents[2]!.id)
      assert.strictEqual(parsed.title, "Cats")
      assert.deepStrictEqual(yield* library.remove(documents[2]!.id), documents[2])
      for (const gone of [library.file, library.document, library.remove]) {
        const error = yield* Effect.flip(gone(documents[2]!.id) as Effect.Effect<unknown, { reason: string }>)
        assert.strictEqual(error.reason, "NotFound")
      }
      assert.deepStrictEqual((yield* library.stats).documents, 2)
      yield* library.maintain
      assert.strictEqual((yield* library.ingest(docs)).added, 1)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  for (const [what, other] of [
    ["embedding model", { id: "other-words" }],
    ["dimension", { dimension: 32 }]
  ] as const) {
    it.effect(`rejects another ${what}, and opens after a rebuild`, () =>
      Effect.gen(function* () {
        const { docs, library: at, remove } = yield* handbook
        yield* Effect.scoped(Effect.flatMap(Library.open(at), (library) => library.ingest(docs))).pipe(
          Effect.provide(modelsLayer)
        )
        const models = yield* modelsWith(other)
        yield* Effect.gen(function* () {
          const error = yield* Effect.flip(Effect.scoped(Library.open(at)))
          assert.strictEqual(error.reason, "ManifestMismatch")
          assert.include(error.message, what)
          assert.include(error.message, "rebuild")
          // The stored originals are enough: the folder is not needed.
          yield* remove("docs")
          const last = yield* Stream.runLast(Library.rebuild(at))
          assert.isTrue(last._tag === "Some" && last.value.type === "done" && last.value.report.added === 3)
          const library = yield* Library.open(at)
          assert.isTrue((yield* library.ask("Who holds the key to the boiler room?")).found)
          assert.strictEqual((yield* library.documents).length, 3)
        }).pipe(Effect.provide(models), Effect.scoped)
        const old = yield* Effect.flip(Effect.scoped(Library.open(at)).pipe(Effect.provide(modelsLayer)))
        assert.strictEqual(old.reason, "ManifestMismatch")
      }).pipe(Effect.scoped)
    )
  }

  it.effect("is unchanged if a rebuild fails", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const connection = yield* Effect.promise(() => connect(at))
      yield* Effect.promise(async () => (await connection.openTable("files")).delete("true"))
      const error = yield* Effect.flip(Stream.runDrain(library.rebuild))
      assert.include(error.message, "unchanged")
      assert.strictEqual((yield* library.retrieve("boiler key")).kept.length, 3)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("rejects a folder that a newer version wrote, and does not change it", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      yield* Effect.scoped(Effect.flatMap(Library.open(at), (library) => library.ingest(docs)))
      const connection = yield* Effect.promise(() => connect(at))
      yield* Effect.promise(async () => {
        const table = await connection.openTable("collections")
        const manifest = JSON.stringify({ format: 99, somethingNew: true })
        await table.update({ where: "true", values: { manifest } })
      })
      const error = yield* Effect.flip(Effect.scoped(Library.open(at)))
      assert.strictEqual(error.reason, "NewerVersion")
      assert.match(error.message, /99/)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("reports what is wrong with a folder or URL", () =>
    Effect.gen(function* () {
      const { folder, write } = yield* testFolder
      yield* write("file", "not a folder")
      for (const [at, told] of [
        [`${folder}/file`, /file is a file, or is below a file/],
        [`${folder}/file/library`, /file.library is a file, or is below a file/],
        ["", /^"" is not the path of a folder/],
        [undefined, /is not the path of a folder/],
        ["s4://bucket/library", /'s4'\. Give the path of a folder, or an address that begins with s3/],
        ["http://127.0.0.1/library", /'http'\. Give the path of a folder/]
      ] as ReadonlyArray<readonly [string, RegExp]>) {
        const error = yield* Effect.flip(Effect.scoped(Library.open(at)))
        assert.deepStrictEqual([error.stage, error.reason], ["open", "Malformed"])
        assert.match(error.message, told)
      }
      yield* Effect.scoped(Library.open(`${folder}/made/with/those above it/`))
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("rejects arguments of the wrong type", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const { checkout, compare, document, figures, file, plan, remove, restore, tag, untag } = library
      for (const none of [undefined, null, 7, 12n, {}, [7], Symbol("x")]) {
        for (const call of [tag, untag, checkout, restore, document, file, figures, remove, plan]) {
          const error = yield* Effect.flip<unknown, RagError, never>(call(none as never))
          assert.strictEqual(error.reason, "Malformed")
        }
        const files = [{ path: none as never, bytes: new Uint8Array() }]
        const { failed } = yield* library.ingest({ files })
        assert.deepStrictEqual(
          failed.map(({ error }) => error.reason),
          ["Malformed"]
        )
      }
      const many = yield* Effect.flip(compare("boiler" as never, {}, {}))
      assert.strictEqual(many.message, '`questions` is "boiler"; expected an array.')
      assert.strictEqual((yield* library.retrieve("boiler", null as never)).kept.length, 3)
      assert.strictEqual((yield* plan(docs, null as never)).unchanged, 3)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("checks its options when it is opened", () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      for (const [wrong, told] of [
        [{ keeps: 3 }, /^"keeps" is not an option\. Options: .*collection, .*storageOptions, .*keep, /],
        [{ recall: -3 }, /^recall is -3; expected a whole number, 1 or more/],
        [{ verify: "all" }, /^verify is "all"; expected "mark", "drop" or "off"/],
        [{ context: { passages: 0 } }, /^context is .*expected { passages, tokens, section }/],
        [{ collection: 7 }, /^collection is 7; expected a text/],
        [{ keepFor: "long" }, /^keepFor is "long"; expected a Duration/],
        [7, /^The options are 7; expected an object/]
      ] as ReadonlyArray<readonly [object, RegExp]>) {
        const error = yield* Effect.flip(Library.open(at, wrong))
        assert.strictEqual(`${error.stage} ${error.reason}`, "open Malformed")
        assert.match(error.message, told)
      }
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  // Skipped: only Linux has a file system in which no folder can be created.
  it.effect.skipIf(!existsSync("/proc/self"))("reports a folder that cannot be created (needs /proc)", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.scoped(Library.open("/proc/sluice/library")))
      assert.match(error.message, /^The folder \/proc\/sluice\/library cannot be created \(ENOENT\)/)
    }).pipe(Effect.provide(modelsLayer))
  )

  it.effect("separates the collections of one folder", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const models = yield* modelsWith({ id: "other-words", dimension: 32 })
      const one = yield* Library.open(at, { collection: "it's one" })
      yield* one.ingest(docs)
      const two = yield* Library.open(at, { collection: "第二" }).pipe(Effect.provide(models))
      assert.strictEqual((yield* two.stats).documents, 0)
      assert.strictEqual((yield* one.stats).documents, 3)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("interrupts an ingest that waits for another, and ingests again afterwards", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const gated = Layer.succeed(
        Embedder,
        Embedder.of({
          model: { id: "gated", kind: "neural", free: true },
          dimension: Effect.succeed(DIMENSION),
          embed: (texts) =>
            Deferred.succeed(begun, undefined).pipe(
              Effect.andThen(Deferred.await(gate)),
              Effect.as({ vectors: texts.map((text) => embedText(text)), tokens: 0 })
            )
        })
      )
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        const first = yield* Effect.forkChild(library.ingest(docs))
        yield* Deferred.await(begun)
        const second = yield* Effect.forkChild(library.ingest(docs), { startImmediately: true })
        yield* Fiber.interrupt(second)
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual((yield* Fiber.join(first)).added, 3)
        assert.strictEqual((yield* library.ingest(docs)).unchanged, 3)
      }).pipe(Effect.provide(Layer.mergeAll(gated, rerankerLayer, readerLayer)))
    }).pipe(Effect.scoped)
  )

  it.effect("accepts uploads and removals while another ingest waits for its source", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const upload = (path: string) => ({
        path,
        bytes: new TextEncoder().encode(`# ${path}\n\nA heron waits.`)
      })
      const slow = Stream.fromEffect(
        Effect.as(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(gate)), upload("slow.md"))
      )
      const crawl = yield* Effect.forkChild(library.ingest({ files: slow }))
      yield* Deferred.await(begun)
      assert.strictEqual((yield* library.ingest({ files: [upload("quick.md")] })).added, 1)
      assert.strictEqual((yield* library.ingest(docs)).unchanged, 3)
      yield* library.remove((yield* library.documents).find(({ path }) => path === "quick.md")!.id)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(crawl)).added, 1)
      assert.strictEqual((yield* library.documents).length, 4)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("is the same for all that open a new folder at the same time", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 5; round++) {
        const { docs, library: at } = yield* handbook
        const four = yield* Effect.all(
          [1, 2, 3, 4].map(() => Library.open(at)),
          { concurrency: 4 }
        )
        yield* Effect.forEach(four, (library) => library.ingest(docs), { concurrency: 4 })
        for (const library of four) assert.strictEqual((yield* library.documents).length, 3)
        assert.deepStrictEqual(
          (yield* Effect.promise(() => readdir(at))).filter((it) => it.startsWith(".")),
          []
        )
      }
    }).pipe(Effect.provide(Layer.mergeAll(embedderLayer, rerankerLayer, readerLayer)), Effect.scoped)
  )
})
