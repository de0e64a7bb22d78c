/** A file that takes long, such as a scan of many pages, holds up no others of its ingest. */
import { assert, it } from "@effect/vitest"
import { Library } from "@sluice/rag"
import { type DocumentFormat, documentFormats, DocumentFormats } from "@sluice/rag/formats"
import { Deferred, Effect, Stream } from "effect"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { modelsLayer } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

it.live("files after one that takes long are committed before it", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const slow: DocumentFormat = {
      id: "slow",
      label: "Slow",
      extensions: ["slow"],
      mediaTypes: ["text/plain"],
      parse: (file) => Effect.andThen(Deferred.await(gate), parse({ ...file, path: "a.txt" }))
    }
    const { library: at } = yield* testFolder
    const library = yield* Library.open(at).pipe(
      Effect.provideService(DocumentFormats, [...documentFormats, slow])
    )
    const files = ["1.slow", "2.slow", "3.slow", "a.md", "b.md"].map((path) => ({
      path,
      bytes: bytes(`# ${path}`)
    }))
    const done: Array<string> = []
    yield* library.ingestEvents({ files }).pipe(
      Stream.runForEach((event) => {
        if (event.type === "document") done.push(event.path)
        return event.type === "committed" ? Deferred.succeed(gate, undefined) : Effect.void
      })
    )
    assert.deepStrictEqual(done.slice(0, 2), ["a.md", "b.md"])
    assert.lengthOf(done, 5)
  }).pipe(Effect.provide(modelsLayer))
)

it.live("the last of two versions of a file counts, also if the first takes longer", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const slow: DocumentFormat = {
      id: "slow",
      label: "Slow",
      extensions: ["slow"],
      mediaTypes: ["text/plain"],
      parse: (file) =>
        Effect.andThen(
          new TextDecoder().decode(file.bytes).includes("first") ? Deferred.await(gate) : Effect.void,
          parse({ ...file, path: "a.txt" })
        )
    }
    const { library: at } = yield* testFolder
    const library = yield* Library.open(at).pipe(
      Effect.provideService(DocumentFormats, [...documentFormats, slow])
    )
    const files = ["The first gate.", "The second gate."].map((text) => ({
      path: "1.slow",
      bytes: bytes(text)
    }))
    yield* library
      .ingestEvents({ files })
      .pipe(
        Stream.runForEach((event) =>
          event.type === "committed" ? Deferred.succeed(gate, undefined) : Effect.void
        )
      )
    const [document] = yield* library.documents
    const { parsed } = yield* library.document(document!.id)
    assert.strictEqual(parsed.text, "The second gate.")
  }).pipe(Effect.provide(modelsLayer))
)
