/** Scans: progress by pages, pages that were read before an interruption, and the limit. `SCANNED_PAGES=1000` is the size that must hold. */
import { assert, it } from "@effect/vitest"
import { Vision } from "@sluice/core"
import { Library, type LibraryOptions } from "@sluice/rag"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { modelsLayer } from "../rag/Models.ts"
import { type PdfPage, writePdf } from "../rag/PdfWriter.ts"
import { testFolder } from "../rag/TestFolder.ts"

const PAGES = Number(process.env["SCANNED_PAGES"] ?? 14)
/** Pages that are read before the interruption. */
const BEFORE = Math.floor(PAGES / 2) + 1

/** Pages with an image and nothing else, each another one. */
const scan = writePdf(
  Array.from({ length: PAGES }, (_, n): PdfPage => ({
    marks: [],
    draw: `q 595 0 0 842 0 0 cm /I Do Q 0 g 50 50 ${20 * (n % 25) + 20} ${15 * Math.floor(n / 25) + 9} re f`
  }))
)
const files = [{ path: "scan.pdf", bytes: scan }]

/** A library whose model reads so many pages, and waits then; `reader` names the model. */
const reading = Effect.fnUntraced(function* (
  folder: string,
  pages: number,
  { reader, ...options }: LibraryOptions & { readonly reader?: string } = {}
) {
  const counts = { begun: 0, read: 0 }
  const waits = yield* Deferred.make<void>()
  const vision = Layer.succeed(
    Vision,
    Vision.of({
      model: { id: "eye", kind: "extractive", maxImages: 1, maxImageBytes: 1e7, formats: ["png"] },
      look: () => Effect.die("not asked"),
      ...(reader !== undefined && { reader }),
      read: () =>
        Effect.suspend(() => {
          if (counts.begun++ >= pages) return Effect.andThen(Deferred.succeed(waits, undefined), Effect.never)
          return Effect.succeed([{ text: `Reading ${counts.read++}`, box: [10, 10, 200, 40] as const }])
        })
    })
  )
  const library = yield* Library.open(folder, options).pipe(Effect.provide(Layer.merge(modelsLayer, vision)))
  return { counts, library, waits }
})

it.live(
  "an ingest of a scan that was interrupted continues after the pages that were read",
  () =>
    Effect.gen(function* () {
      const began = performance.now()
      const { library: folder } = yield* testFolder
      const first = yield* reading(folder, BEFORE)
      const running = yield* Effect.forkChild(first.library.ingest({ files }))
      yield* Deferred.await(first.waits)
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual([first.counts.read, yield* first.library.documents], [BEFORE, []])

      const other = yield* reading(folder, 0, { reader: "another" })
      yield* Effect.forkScoped(other.library.ingest({ files }))
      yield* Deferred.await(other.waits)
      assert.isAbove(other.counts.begun, 0, "readings of another model are not used")

      const second = yield* reading(folder, PAGES)
      const progress: Array<number> = []
      yield* second.library.ingestEvents({ files }).pipe(
        Stream.runForEach((event) =>
          Effect.sync(() => {
            if (event.type !== "pages") return
            assert.deepInclude(event, { path: "scan.pdf", pages: PAGES })
            progress.push(event.done)
          })
        )
      )
      assert.strictEqual(second.counts.read, PAGES - BEFORE)
      assert.deepStrictEqual(
        progress,
        Array.from({ length: PAGES + 1 }, (_, n) => n)
      )
      const { faults, passages } = (yield* second.library.documents)[0]!
      assert.isUndefined(faults)
      console.info(`${PAGES} pages, interrupted once: ${((performance.now() - began) / 1000).toFixed(1)} s`)
      assert.isAbove(passages, 0)
    }).pipe(Effect.scoped),
  600_000
)

it.live("a kept page whose text was damaged is read again", () =>
  Effect.gen(function* () {
    const { library: folder } = yield* testFolder
    const first = yield* reading(folder, BEFORE)
    const running = yield* Effect.forkChild(first.library.ingest({ files }))
    yield* Deferred.await(first.waits)
    yield* Fiber.interrupt(running)
    yield* Effect.promise(async () => {
      const names = await readdir(join(folder, "files.lance", "data"), { recursive: true })
      for (const name of names.filter((name) => name.endsWith(".lance"))) {
        const file = join(folder, "files.lance", "data", name)
        const bytes = await readFile(file)
        const at = bytes.indexOf('"Reading 3"')
        if (at > 0) return writeFile(file, bytes.fill("M", at + 1, at + 2))
      }
      assert.fail("no file has the page")
    })
    const second = yield* reading(folder, PAGES)
    yield* second.library.ingest({ files })
    assert.strictEqual(second.counts.read, PAGES - BEFORE + 1)
    const [document] = yield* second.library.documents
    const { parsed } = yield* second.library.document(document!.id)
    assert.notInclude(parsed.text, "Meading")
  }).pipe(Effect.scoped)
)

it.live("the pages that are read of one file are limited", () =>
  Effect.gen(function* () {
    const { library: folder } = yield* testFolder
    const { counts, library } = yield* reading(folder, PAGES, { scannedPages: 3 })
    yield* library.ingest({ files })
    assert.strictEqual(counts.read, 3)
    const [{ faults } = { faults: undefined }] = yield* library.documents
    // At most a hundred are listed.
    assert.strictEqual(faults?.length, Math.min(101, PAGES - 3))
    assert.include(faults?.[0]?.message, "only 3 such pages")
  }).pipe(Effect.scoped)
)
