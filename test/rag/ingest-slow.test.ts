/** A file that takes long, such as a scan of many pages, holds up no others of its ingest. */
import { assert, it } from "@effect/vitest"
import { Library } from "@sluice/rag"
import { type DocumentFormat, documentFormats, DocumentFormats } from "@sluice/rag/formats"
import { Deferred, Effect, Stream } from "effect"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { modelsLayer } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

/** A library with a format whose files that have the word "slow" wait for the gate, and an ingest that opens it at the first commit. */
const gated = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  const format: DocumentFormat = {
    id: "gated",
    label: "Gated",
    extensions: ["gated"],
    mediaTypes: ["text/plain"],
    parse: (file) =>
      Effect.andThen(
        new TextDecoder().decode(file.bytes).includes("slow") ? Deferred.await(gate) : Effect.void,
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
  return { ingest, library }
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
