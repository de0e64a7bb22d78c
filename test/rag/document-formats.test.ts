/** A format that a program registers is one that the library parses, stores, filters and explains. */
import { assert, describe, it } from "@effect/vitest"
import { Filter, Library } from "@sluice/rag"
import { type DocumentFormat, DocumentFormats, documentFormats, formatOf } from "@sluice/rag/formats"
import { Effect, Layer } from "effect"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { modelsLayer } from "./Models.ts"
import { LYRICS, lyricsFormat, withLyrics } from "./LyricsFormat.ts"
import { testFolder } from "./TestFolder.ts"
import { zip } from "./ZipWriter.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const QUESTION = "How much does mooring a boat overnight cost?"

const openLibrary = Effect.gen(function* () {
  const { library: at } = yield* testFolder
  const library = yield* Library.open(at).pipe(Effect.provideService(DocumentFormats, withLyrics))
  const report = yield* library.ingest({
    files: [
      { path: "lock.lrc", bytes: bytes(LYRICS) },
      { path: "fees.md", bytes: bytes("# Fees\n\nMooring a boat overnight cost nine crowns.\n") },
      { path: "bad.lrc", bytes: bytes("not lyrics") }
    ]
  })
  return { library, report }
})

/** A text format of the same identifier that reads each file as "replaced". */
const text = formatOf("a.txt")!
const replacement: DocumentFormat = {
  ...text,
  parse: ({ path }) => text.parse({ path, bytes: bytes("replaced") })
}
const withReplacement = documentFormats.map((format) => (format === text ? replacement : format))

describe("a format registered from outside", () => {
  it.effect("is ingested and listed", () =>
    Effect.gen(function* () {
      const { library, report } = yield* openLibrary
      assert.strictEqual(report.added, 2)
      assert.deepStrictEqual(
        report.failed.map(({ path }) => path),
        ["bad.lrc"]
      )
      const documents = yield* library.documents
      assert.deepStrictEqual(
        documents.map(({ format, path, title }) => [path, format, title]),
        [
          ["fees.md", "markdown", "Fees"],
          ["lock.lrc", "lyrics", "lock"]
        ]
      )
      const { parsed } = yield* library.document(documents[1]?.id ?? "")
      assert.include(parsed.text, "opens the gate at six")
    }).pipe(Effect.provide(modelsLayer))
  )

  it.effect("is a value of filters", () =>
    Effect.gen(function* () {
      const { library } = yield* openLibrary
      for (const [format, path] of [
        ["lyrics", "lock.lrc"],
        ["markdown", "fees.md"]
      ] as const) {
        const { kept } = yield* library.retrieve(QUESTION, { filter: Filter.equals("format", format) })
        assert.deepStrictEqual([...new Set(kept.map(({ document }) => document.path))], [path])
      }
      const error = yield* Effect.flip(
        library.retrieve(QUESTION, { filter: Filter.equals("format", "lyric") })
      )
      assert.match(error.message, /"lyric".*lyrics/)
    }).pipe(Effect.provide(modelsLayer))
  )

  it.effect("is explained by why", () =>
    Effect.gen(function* () {
      const { library } = yield* openLibrary
      const [, { id }] = (yield* library.documents) as unknown as [unknown, { id: string }]
      const why = yield* library.why(id, QUESTION)
      assert.strictEqual(why.passages[0]?.outcome, "kept")
    }).pipe(Effect.provide(modelsLayer))
  )

  it.effect("is recognised by its bytes under another name", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse({ path: "a.txt", bytes: bytes(LYRICS) }))
      assert.match(error.message, /name says Text, but this is lyrics/)
    }).pipe(Effect.provideService(DocumentFormats, withLyrics))
  )

  it.effect("is named among the supported formats", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse({ path: "a.xyz", bytes: bytes("x") }))
      assert.match(error.message, /\.xyz files are not supported.*Lyrics \(\.lrc\)/)
    }).pipe(Effect.provide(Layer.succeed(DocumentFormats, withLyrics)))
  )

  it.effect("is unknown to a program that does not register it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse({ path: "lock.lrc", bytes: bytes(LYRICS) }))
      assert.strictEqual(error.reason, "UnsupportedFormat")
      assert.notInclude(error.message, lyricsFormat.label)
    })
  )

  it.effect("is parsed in an archive", () =>
    Effect.gen(function* () {
      const archive = zip([{ name: "lock.lrc", content: LYRICS }])
      const { faults, text } = yield* parse({ path: "a.zip", bytes: archive })
      assert.deepStrictEqual(faults, [])
      assert.include(text, "opens the gate at six")
    }).pipe(Effect.provideService(DocumentFormats, withLyrics))
  )

  it.effect("replaces a built-in format for small files, for large ones and in archives", () =>
    Effect.gen(function* () {
      const files = {
        "small.txt": bytes("A gate."),
        "large.txt": bytes("A gate.\n".repeat(10_000)),
        "a.zip": zip([{ name: "small.txt", content: "A gate." }])
      }
      for (const [path, content] of Object.entries(files)) {
        const { text } = yield* parse({ path, bytes: content })
        assert.match(text, /replaced$/, path)
      }
    }).pipe(Effect.provideService(DocumentFormats, withReplacement))
  )

  it.effect("that a program leaves out is not parsed in an archive", () =>
    Effect.gen(function* () {
      const archive = zip([
        { name: "a.txt", content: "A gate." },
        { name: "b.md", content: "A weir." }
      ])
      const { faults, text } = yield* parse({ path: "a.zip", bytes: archive })
      assert.notInclude(text, "A gate.")
      assert.include(text, "A weir.")
      assert.match(faults[0]?.message ?? "", /a\.txt was left out.*not supported/)
    }).pipe(
      Effect.provideService(
        DocumentFormats,
        documentFormats.filter((format) => format !== text)
      )
    )
  )
})
