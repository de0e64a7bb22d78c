/** A file that takes long, such as a scan of many pages, holds up no others of its ingest or of its source. */
import { assert, it } from "@effect/vitest"
import { Library, type SourceItem } from "@sluice/rag"
import { type DocumentFormat, documentFormats, DocumentFormats } from "@sluice/rag/formats"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { modelsLayer } from "../rag/Models.ts"
import { testFolder } from "../rag/TestFolder.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

/** A library with a format whose files that have the word "slow" wait for the gate, and an ingest that opens it at the first commit. */
const gated = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  /** Opened when the first slow file is being read. */
  const begun = yield* Deferred.make<void>()
  const format: DocumentFormat = {
    id: "gated",
    label: "Gated",
    extensions: ["gated"],
    mediaTypes: ["text/plain"],
    parse: (file) =>
      Effect.andThen(
        new TextDecoder().decode(file.bytes).includes("slow")
          ? Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(gate))
          : Effect.void,
        parse({ ...file, path: "a.txt" })
      )
  }
  const { library: at } = yield* testFolder
  const library = yield* Library.open(at).pipe(
    Effect.provideService(DocumentFormats, [...documentFormats, format]),
    Effect.provide(modelsLayer)
  )
  /** The paths of the events of documents. */
  const ingest = Effect.fnUntraced(function* (files: ReadonlyArray<readonly [path: string, text: string]>) {
    const paths: Array<string> = []
    const uploads = files.map(([path, text]) => ({ path, bytes: bytes(text) }))
    yield* library.ingestEvents({ files: uploads }).pipe(
      Stream.runForEach((event) => {
        if (event.type === "document") paths.push(event.path)
        return event.type === "committed" ? Deferred.succeed(gate, undefined) : Effect.void
      })
    )
    return paths
  })
  return { begun: Deferred.await(begun), gate, ingest, library }
})

it.live(
  "files after those that take long are committed before them, in their order",
  () =>
    Effect.gen(function* () {
      const { ingest } = yield* gated
      // More than are read at the same time.
      const slow = Array.from({ length: 7 }, (_, n) => [`${n}.gated`, `A slow text ${n}.`] as const)
      const quick = ["a.md", "b.gated", "c.md"].map((path) => [path, `The text of ${path}.`] as const)
      const paths = yield* ingest([...slow.slice(0, 6), quick[0]!, quick[1]!, slow[6]!, quick[2]!])
      assert.deepStrictEqual(paths.slice(0, 2), ["a.md", "b.gated"])
      assert.sameMembers(
        paths,
        [...slow, ...quick].map(([path]) => path)
      )
    }),
  60_000
)

it.live("the last of two versions of a file counts, also if the first takes longer", () =>
  Effect.gen(function* () {
    const { ingest, library } = yield* gated
    yield* ingest([
      ["1.gated", "The slow first text."],
      ["1.gated", "The second text."]
    ])
    const [document] = yield* library.documents
    const { parsed } = yield* library.document(document!.id)
    assert.strictEqual(parsed.text, "The second text.")
  })
)

const item = (path: string, text: string): SourceItem => ({ path, bytes: bytes(text) })

it.live(
  "what a source gives after files that take long is committed before them",
  () =>
    Effect.gen(function* () {
      const { begun, gate, library } = yield* gated
      const slow = Array.from({ length: 7 }, (_, n) => `${n}.gated`)
      const given = Stream.concat(
        Stream.fromIterable(slow.map((path) => item(path, `A slow text: ${path}.`))),
        // What comes now is in none of the groups that are being written.
        Stream.fromIterableEffect(
          Effect.as(
            begun,
            ["a.md", "b.gated"].map((path) => item(path, `Of ${path}.`))
          )
        )
      )
      const paths: Array<string> = []
      yield* library.syncEvents("folder", given).pipe(
        Stream.runForEach((event) => {
          if (event.type === "document") paths.push(event.path)
          return paths.includes("b.gated") ? Deferred.succeed(gate, undefined) : Effect.void
        })
      )
      assert.deepStrictEqual(paths.slice(0, 2), ["a.md", "b.gated"])
      assert.sameMembers(paths.slice(2), slow)
    }),
  60_000
)

it.live(
  "a file of a source that takes long keeps no rebuild waiting, and is written into the new table",
  () =>
    Effect.gen(function* () {
      const { begun, gate, library } = yield* gated
      yield* library.sync("folder", Stream.make(item("a.gated", "A first text. ".repeat(400))))
      const syncing = yield* Effect.forkScoped(
        library.sync("folder", Stream.make(item("a.gated", "The slow text.")))
      )
      yield* begun
      yield* Stream.runDrain(library.rebuild)
      yield* Deferred.succeed(gate, undefined)
      assert.deepInclude(yield* Fiber.join(syncing), { replaced: 1, removed: 0 })
      const [document] = yield* library.documents
      assert.deepStrictEqual(
        (yield* library.passages(document!.id)).map(({ text }) => text),
        ["The slow text."]
      )
    }).pipe(Effect.scoped),
  60_000
)

it.live("a file that a source removes while it is being read is not written", () =>
  Effect.gen(function* () {
    const { begun, gate, library } = yield* gated
    const before = item("b.md", "A text that stays.")
    yield* library.sync("folder", Stream.make<Array<SourceItem>>(before, item("c.md", "A text that goes.")))
    const given = Stream.concat(
      Stream.make(item("a.gated", "The slow text.")),
      Stream.fromIterableEffect(Effect.as(begun, [{ removed: "a.gated" }, { removed: "c.md" }]))
    )
    const paths: Array<string> = []
    yield* library.syncEvents("folder", given, { partial: true }).pipe(
      Stream.runForEach((event) => {
        if (event.type !== "document") return Effect.void
        paths.push(`${event.status} ${event.path}`)
        return Deferred.succeed(gate, undefined)
      })
    )
    assert.deepStrictEqual(paths, ["removed c.md"])
    assert.deepStrictEqual(
      (yield* library.documents).map(({ path }) => path),
      ["b.md"]
    )
  })
)
