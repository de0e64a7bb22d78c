/** The stored parse of a document, and the crops of its figures. */
import { assert, describe, it } from "@effect/vitest"
import { connect } from "@lancedb/lancedb"
import { Vision } from "@sluice/core"
import { Library } from "@sluice/rag"
import { documentId, LanceIndex, PassageIndex } from "@sluice/rag/store"
import { Context, Effect, Layer, Stream } from "effect"
import sharp from "sharp"
import type { Box, Figure, Parsed } from "../../packages/rag/src/document/Document.ts"
import { chunkedDocument } from "../../packages/rag/src/ingest/ChunkedDocument.ts"
import { encodeParsed } from "../../packages/rag/src/chunking/ChunkedParse.ts"
import { chunkParsed, parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { sha256 } from "../../packages/rag/src/document/Hash.ts"
import { decodeParsed } from "../../packages/rag/src/ingest/ParsedCodec.ts"
import { DIMENSION, embedText, modelsLayer } from "./Models.ts"
import { column, writePdf } from "./PdfWriter.ts"
import { testFolder } from "./TestFolder.ts"

const CROP = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1, 2, 3])
const CAPTION = "Figure 2: Steam pressure by month."
const TEXT = `# Boiler\n\nThe pressure falls in May, see Fig. 2.\n\n${CAPTION}\n0 20 40 bar\n\nThe end of it.\n`

const span = (text: string) => ({ start: TEXT.indexOf(text), end: TEXT.indexOf(text) + text.length })

const BOX: Box = [10, 20, 300.5, 400]

const figure: Figure = {
  ...span(`${CAPTION}\n0 20 40 bar`),
  kind: "figure",
  number: "2",
  caption: span(CAPTION),
  page: 1,
  box: BOX,
  mentions: [span("The pressure falls in May, see Fig. 2.")],
  crop: CROP
}

const parsed: Parsed = {
  format: "pdf",
  title: "Boiler",
  text: TEXT,
  blocks: [
    { ...span("# Boiler"), kind: "heading", level: 1, heading: "Boiler" },
    { ...span("The pressure falls in May, see Fig. 2."), kind: "paragraph" },
    { start: figure.start, end: figure.end, kind: "figure" },
    { ...span("The end of it."), kind: "paragraph" }
  ],
  pages: [{ number: 1, width: 595, height: 842, start: 0, end: TEXT.length }],
  lines: [{ ...span(CAPTION), page: 1, box: [10, 400, 300, 412] }],
  figures: [figure],
  faults: [{ page: 7, message: "page 7 is damaged" }]
}

const file = {
  path: "boiler.pdf",
  source: "",
  original: new TextEncoder().encode(TEXT),
  sha256: sha256(TEXT),
  metadata: undefined
}

describe("the stored parse", () => {
  it.effect("is equal to the parse, without the crops", () =>
    Effect.gen(function* () {
      const { crop: _, ...rest } = figure
      const back = yield* decodeParsed(yield* Effect.promise(() => encodeParsed(parsed)), "boiler.pdf")
      assert.deepStrictEqual(back, { ...parsed, figures: [rest] })
      const cropOf = (hash: string) => Effect.succeed(hash === sha256(CROP) ? CROP : undefined)
      assert.deepStrictEqual(
        yield* decodeParsed(yield* Effect.promise(() => encodeParsed(parsed)), "boiler.pdf", cropOf),
        parsed
      )
    })
  )

  it.effect("is rejected if it is damaged", () =>
    Effect.gen(function* () {
      const bytes = yield* Effect.promise(() => encodeParsed(parsed))
      for (const wrong of [bytes.subarray(0, bytes.length - 9), new Uint8Array(8)]) {
        const error = yield* Effect.flip(decodeParsed(wrong, "boiler.pdf"))
        assert.deepStrictEqual([error.reason, error.document], ["Damaged", "boiler.pdf"])
      }
    })
  )

  it.effect("is stored with the crops, returned by document, and removed with it", () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const library = yield* Library.open(at)
      const draft = yield* chunkedDocument(file, yield* chunkParsed(file.path, parsed))
      assert.deepStrictEqual([draft.info.figures, draft.info.faults], [1, parsed.faults])
      const manifest = { format: 2, embeddingModel: "test-words", dimension: DIMENSION }
      const index = Context.get(yield* Layer.build(LanceIndex.layer(at)), PassageIndex)
      const { chunker } = yield* library.stats
      const collection = yield* index.open("default", { ...manifest, chunker })
      const passages = draft.passages.map(({ hash, passage, text }) => ({
        passage,
        hash,
        search: text,
        vector: embedText(text)
      }))
      yield* collection.commit([{ ...draft, passages, replaces: undefined }])
      const { id } = draft.info
      const [shown, ...more] = yield* library.figures(id)
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(shown?.figure, {
        kind: "figure",
        number: "2",
        page: 1,
        box: BOX,
        caption: CAPTION,
        crop: sha256(CROP),
        said: "The pressure falls in May, see Fig. 2."
      })
      assert.deepStrictEqual(Uint8Array.from(yield* library.attachment(id, sha256(CROP))), CROP)
      const { info, parsed: read } = yield* library.document(id)
      assert.strictEqual(read.text.slice(shown?.start, shown?.end), shown?.text)
      assert.deepStrictEqual(info.faults, parsed.faults)
      // Neither the stored parse nor the file of another document is a crop.
      for (const no of [draft.reading ?? "", info.sha256, "0".repeat(64)]) {
        assert.strictEqual((yield* Effect.flip(library.attachment(id, no))).reason, "NotFound")
      }
      yield* library.remove(id)
      assert.strictEqual((yield* Effect.flip(library.attachment(id, sha256(CROP)))).reason, "NotFound")
      assert.strictEqual((yield* Effect.flip(library.figures(id))).reason, "NotFound")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.live("is returned for a document, so that a PDF is not parsed again", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* testFolder
      const bytes = writePdf([{ marks: column(50, 700, ["The boiler is lit in May.", "It cools in June."]) }])
      yield* write("docs/boiler.pdf", bytes)
      yield* write("docs/plain.md", "# Plain\n\nText formats are read again.\n")
      const library = yield* Library.open(at)
      assert.deepStrictEqual((yield* library.ingest(docs)).failed, [])
      const [pdf, plain] = yield* library.documents
      const connection = yield* Effect.promise(() => connect(at))
      yield* Effect.promise(async () => {
        const files = await connection.openTable("files")
        await files.delete(`sha256 IN ('${pdf!.sha256}', '${plain!.sha256}')`)
      })
      const { parsed: read } = yield* library.document(pdf!.id)
      assert.deepStrictEqual(read, yield* parse({ path: "boiler.pdf", bytes }))
      assert.strictEqual((yield* Effect.flip(library.document(plain!.id))).reason, "Damaged")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("reports an image that no model read, until one has", () =>
    Effect.gen(function* () {
      const { docs, library: at, write } = yield* testFolder
      const picture = yield* Effect.promise(() =>
        sharp({ create: { width: 120, height: 90, channels: 3, background: "#ffcc00" } })
          .png()
          .toBuffer()
      )
      yield* write("docs/lockings.png", picture)
      const blind = yield* Effect.scoped(
        Effect.gen(function* () {
          const library = yield* Library.open(at)
          const report = yield* library.ingest(docs)
          return { report, documents: yield* library.documents }
        })
      )
      assert.deepInclude(blind.report, { added: 1, faulty: 1, failed: [] })
      assert.match(
        blind.documents[0]?.faults?.[0]?.message ?? "",
        /no `Vision` that reads images is provided/
      )
      const read = Effect.gen(function* () {
        const library = yield* Library.open(at)
        const done = yield* Stream.runLast(library.rebuild)
        const [image] = yield* library.documents
        return { done, image, found: (yield* library.retrieve("lockings in July")).kept[0]?.text }
      })
      const { done, found, image } = yield* read.pipe(
        Effect.provideService(Vision, {
          model: { id: "eye", kind: "extractive", maxImages: 1, maxImageBytes: 1e6, formats: ["png"] },
          look: () => Effect.succeed({ text: "nothing", tokens: 0 }),
          read: () => Effect.succeed([{ text: "July: 41 lockings", box: [1, 2, 100, 20] }])
        })
      )
      assert.strictEqual(image?.faults, undefined)
      assert.strictEqual(found, "July: 41 lockings")
      assert.include(JSON.stringify(done), '"faulty":0')
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("is used by a rebuild if the document links to pictures", () =>
    Effect.gen(function* () {
      const { docs, library: at, remove, write } = yield* testFolder
      const picture = yield* Effect.promise(() =>
        sharp({ create: { width: 120, height: 90, channels: 3, background: "#ffcc00" } })
          .png()
          .toBuffer()
      )
      yield* write("docs/pressure.png", picture)
      yield* write("docs/boiler.md", "# Boiler\n\nSee it.\n\n![Figure 1: The pressure.](pressure.png)\n")
      const library = yield* Library.open(at)
      const report = yield* library.ingest({ folder: docs })
      assert.deepStrictEqual(
        report.failed.map(({ path }) => path),
        []
      )
      const boiler = documentId("boiler.md")
      const before = yield* library.figures(boiler)
      assert.strictEqual(before.length, 1)
      const crop = before[0]?.figure.crop ?? ""
      yield* remove("docs")
      yield* Stream.runDrain(library.rebuild)
      assert.deepStrictEqual(yield* library.figures(boiler), before)
      const kept = yield* library.attachment(boiler, crop)
      assert.deepStrictEqual(Uint8Array.from(kept), Uint8Array.from(picture))
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
