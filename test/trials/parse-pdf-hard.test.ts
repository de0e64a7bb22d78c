/** Difficult PDFs: scans, bombs, recursion, thousands of pages. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { runInWorker } from "@sluice/core/workers"
import { layerVision } from "@sluice/embedded/vision"
import { Effect, Exit, Layer, Scope } from "effect"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { renderPage } from "../../packages/rag/src/formats/pdf/Pdf.ts"
import { column, type Mark, type PdfPage, writePdf } from "../rag/PdfWriter.ts"

/** One OCR engine for all tests of this file: starting one takes a second of CPU time. */
const engine = Scope.makeUnsafe()
const vision = Effect.runSync(Layer.buildWithScope(layerVision, engine))
afterAll(() => Effect.runPromise(Scope.close(engine, Exit.void)))

const lines: ReadonlyArray<Mark> = column(
  60,
  740,
  [
    "The lower gates leak twice as much",
    "as in the year before the inspection.",
    "Bearings wear in every season."
  ],
  20
)

/** A page with only an image: the compressed rows of a PNG. */
const scanOf = (png: Uint8Array): PdfPage => {
  const view = new DataView(png.buffer, png.byteOffset)
  const colours = png[25] === 0 ? 1 : 3
  let at = 8
  while (new TextDecoder().decode(png.subarray(at + 4, at + 8)) !== "IDAT") at += 12 + view.getUint32(at)
  const rows = png.subarray(at + 8, at + 8 + view.getUint32(at))
  return {
    marks: [],
    draw: "q 595 0 0 842 0 0 cm /P Do Q",
    picture: {
      entries:
        `/Width ${view.getUint32(16)} /Height ${view.getUint32(20)} /ColorSpace ${colours === 1 ? "/DeviceGray" : "/DeviceRGB"} ` +
        `/Filter [/ASCIIHexDecode /FlateDecode] /DecodeParms [null << /Predictor 15 /Colors ${colours} /Columns ${view.getUint32(16)} >>]`,
      hex: Buffer.from(rows).toString("hex")
    }
  }
}

const read = (pages: ReadonlyArray<PdfPage>) => parse({ path: "hard.pdf", bytes: writePdf(pages) })

describe("scans", () => {
  it.live(
    "are read by image understanding, with the boxes of lines; without it there is an error",
    () =>
      Effect.gen(function* () {
        const png = yield* renderPage("a.pdf", writePdf([{ marks: lines }]), 1, { dpi: 150 })
        const pages = [scanOf(png), { marks: column(60, 740, ["A page with text."]) }]
        const parsed = yield* read(pages).pipe(Effect.provide(vision))
        assert.include(
          parsed.text,
          "The lower gates leak twice as much as in the year before the inspection."
        )
        assert.include(parsed.text, "A page with text.")
        assert.deepStrictEqual(parsed.faults, [])
        const [first] = parsed.lines
        assert.strictEqual(first!.page, 1)
        // The base line of the first line is 102 points from the top
        assert.isTrue(first!.box[1] > 80 && first!.box[3] < 112 && Math.abs(first!.box[0] - 60) < 6)

        const without = yield* read(pages)
        assert.include(without.text, "A page with text.")
        assert.deepStrictEqual(
          without.faults.map(({ page }) => page),
          [1]
        )
      }),
    60_000
  )
})

describe("a PDF whose fonts have no character map", () => {
  // Printed by Chromium; without these maps its fonts only number their glyphs
  const bytes = Buffer.from(
    readFileSync(join(import.meta.dirname, "../rag/fixtures/tagged.pdf"), "latin1").replace(
      /\/ToUnicode \d+ 0 R/g,
      (map) => " ".repeat(map.length)
    ),
    "latin1"
  )
  const file = () => ({ path: "no-map.pdf", bytes: Uint8Array.from(bytes) })

  it.live(
    "is read by image understanding",
    () =>
      Effect.gen(function* () {
        const { faults, figures, text } = yield* parse(file()).pipe(Effect.provide(vision))
        assert.include(text, "The keeper walks the length of the wall each morning")
        assert.deepStrictEqual(
          figures.map(({ number }) => number),
          ["1", "2"]
        )
        assert.deepStrictEqual(faults, [])
      }),
    60_000
  )

  it.effect("is rejected without image understanding", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse(file()))
      assert.strictEqual(error.reason, "UnsupportedFormat")
      assert.include(error.message, "fonts without a character map")
    })
  )
})

describe("a PDF", () => {
  const caption: Mark = { text: "Figure 1: The gates.", x: 60, y: 380 }

  it.effect("without pages is rejected", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read([]))
      assert.oneOf(error.reason, ["Empty", "Malformed"])
    })
  )

  it.effect("with a form that draws itself is read", () =>
    Effect.gen(function* () {
      const parsed = yield* read([
        { marks: [...lines, caption], draw: "/X Do", form: "40 220 60 60 re f /X Do" }
      ])
      assert.include(parsed.text, "Bearings wear")
    })
  )

  it.effect.each([
    ["a size", "BT /F0 1000000000 Tf 1 0 0 1 60 700 Tm (Lost gates) Tj ET"],
    ["a place", "BT /F0 10 Tf 1 0 0 1 60 -99999999999 Tm (Lost gates) Tj ET"],
    ["a matrix", "BT /F0 10 Tf 0 90000000 -90000000 0 60 700 Tm (Lost gates) Tj ET"],
    ["a line", "1000000000 w 0 0 m 99999999999 99999999999 l S -99999999999 400 99999999999 1 re f"]
  ])("with %s out of range is read, and other text keeps its position", ([, draw]) =>
    Effect.gen(function* () {
      const parsed = yield* read([{ marks: [...lines, caption], draw: `q ${draw} Q` }])
      assert.include(parsed.text, "Bearings wear in every season.")
      for (const { box } of [...parsed.lines, ...parsed.figures]) {
        assert.isTrue(box === undefined || box.every((v) => Math.abs(v) <= 2 * 842))
      }
    })
  )

  it.effect("loses a page that is too large, and is rejected for a wrong page count", () =>
    Effect.gen(function* () {
      const file = new TextDecoder().decode(writePdf([{ marks: lines }, { marks: lines }]))
      const bytes = new TextEncoder().encode(file.replace("[0 0 595 842]", "[0 0 900000 900000]"))
      const parsed = yield* parse({ path: "large.pdf", bytes })
      assert.deepStrictEqual(
        parsed.faults.map(({ page }) => page),
        [1]
      )
      const many = file.replace("/Count 2 ", "/Count 500000 ")
      const error = yield* Effect.flip(parse({ path: "many.pdf", bytes: new TextEncoder().encode(many) }))
      assert.strictEqual(error.reason, "Malformed")
    })
  )

  it.live("with 200,000 paths on a page is read with its figure", () =>
    Effect.gen(function* () {
      const paths = Array.from(
        { length: 200_000 },
        (_, i) => `${60 + (i % 300)} ${400 + ((i * 7) % 200)} m 5 0 l S`
      )
      const strokes = paths.map((path, i) =>
        path.replace("5 0 l", `${63 + (i % 300)} ${402 + ((i * 7) % 200)} l`)
      )
      const parsed = yield* read([{ marks: [...lines, caption], draw: strokes.join("\n") }])
      const [figure] = parsed.figures
      assert.strictEqual(figure?.number, "1")
      assert.isTrue(figure!.box![0] < 80 && figure!.box![2] > 340)
    })
  )

  it.live("with a form that draws itself twice loses that page within the memory limit", () =>
    Effect.gen(function* () {
      // Each level doubles what is drawn
      const before = process.resourceUsage().maxRSS
      const parsed = yield* read([
        { marks: lines, draw: "/X Do", form: "40 220 60 60 re f /X Do /X Do" },
        { marks: [{ text: "A page with text.", x: 60, y: 700 }] }
      ])
      assert.strictEqual(parsed.text, "A page with text.")
      const [fault, ...others] = parsed.faults
      assert.deepStrictEqual([fault?.page, others], [1, []])
      assert.strictEqual(fault?.message, "this page is left out: reading it took more than 640 MiB of memory")
      assert.isBelow(process.resourceUsage().maxRSS - before, 900 * 1024)
    })
  )

  it.live("that keeps PDFium busy for longer than its limit is ended", () =>
    Effect.gen(function* () {
      // PDFium reads such a page in one call, which takes seconds.
      const texts = "BT /F0 8 Tf 1 0 0 1 60 400 Tm (The gate leaks) Tj ET\n".repeat(400_000)
      const error = yield* Effect.flip(
        runInWorker({
          module: new URL("../../packages/rag/src/formats/pdf/worker/PdfWorker.ts", import.meta.url),
          job: "runPdf",
          input: {
            kind: "parse",
            bytes: Uint8Array.from(writePdf([{ marks: [], draw: texts }])),
            recognized: [],
            skip: [],
            undrawn: []
          },
          stepLimit: () => 200
        })
      )
      assert.deepStrictEqual(
        [error.reason, error.message, error.step],
        ["time", "took more than 0.2 s", { page: 1 }]
      )
    })
  )

  it.live("with a picture of 20 MB is read, with its figure", () =>
    Effect.gen(function* () {
      // 2,000 × 3,334 pixels in colour, written in hexadecimal: 40 MB of file
      const row = "00336699cc".repeat(2000 * 3).slice(0, 2000 * 6)
      const parsed = yield* read([
        {
          marks: [...lines, caption],
          draw: "q 200 0 0 150 60 400 cm /P Do Q",
          picture: {
            entries: "/Width 2000 /Height 3334 /ColorSpace /DeviceRGB /Filter /ASCIIHexDecode",
            hex: row.repeat(3334)
          }
        }
      ])
      assert.include(parsed.text, "Bearings wear")
      const [figure] = parsed.figures
      assert.deepStrictEqual(
        figure!.box!.map((value) => Math.round(value)),
        [60, 292, 260, 442]
      )
      assert.isAbove(figure!.crop!.length, 1000)
      assert.deepStrictEqual(parsed.faults, [])
    })
  )

  it.live(
    "has text in the picture of a figure from image understanding, with its boxes",
    () =>
      Effect.gen(function* () {
        const png = yield* renderPage("a.pdf", writePdf([{ marks: lines }]), 1, { dpi: 150 })
        const { picture } = scanOf(png)
        const page: PdfPage = {
          marks: [
            caption,
            ...column(
              60,
              340,
              Array.from(
                { length: 6 },
                () => "What the picture shows is told in the text below it, in lines."
              )
            )
          ],
          draw: "q 280 0 0 396 60 395 cm /P Do Q",
          picture: picture!
        }
        const parsed = yield* read([page]).pipe(Effect.provide(vision))
        const [figure] = parsed.figures
        const inside = parsed.text.slice(figure!.start, figure!.end)
        assert.match(inside, /^Figure 1: The gates\.\n/)
        assert.include(inside, "Bearings wear in every season.")
        const words = parsed.lines.filter(({ start, end }) =>
          parsed.text.slice(start, end).includes("Bearings wear")
        )
        assert.lengthOf(words, 1)
        const [x0, y0, x1, y1] = figure!.box!
        const [left, top, right, bottom] = words[0]!.box
        assert.isTrue(left >= x0 && right <= x1 && top >= y0 && bottom <= y1)
        const without = yield* read([page])
        assert.notInclude(without.text, "Bearings wear")
      }),
    60_000
  )

  it.live("with an image that states 400 million pixels is read without allocating them", () =>
    Effect.gen(function* () {
      // A JPEG that claims 20,000 × 20,000 and ends there
      const hex = "ffd8ffc0000b084e204e2001011100ffda0008010100003f00ffd9"
      const before = process.memoryUsage().rss
      const parsed = yield* read([
        {
          marks: [...lines, caption],
          draw: "q 200 0 0 150 60 400 cm /P Do Q",
          picture: {
            entries:
              "/Width 20000 /Height 20000 /ColorSpace /DeviceGray /Filter [/ASCIIHexDecode /DCTDecode]",
            hex
          }
        }
      ])
      assert.include(parsed.text, "Bearings wear")
      assert.isBelow(process.memoryUsage().rss - before, 1.5e9)
    })
  )

  it.effect("of several windows of pages is read up to a figure at the end", () =>
    Effect.gen(function* () {
      const page = (number: number): PdfPage => ({
        marks: column(
          60,
          740,
          Array.from(
            { length: 24 },
            (_, i) => `Entry ${i} of sheet ${number} says who passed the lock and when.`
          )
        )
      })
      const pages = Array.from({ length: 160 }, (_, i) => page(i + 1))
      pages[158] = { marks: [...lines, caption], draw: "60 400 300 150 re f" }
      const parsed = yield* read(pages)
      assert.deepStrictEqual(
        parsed.pages.map(({ end, start }) => /sheet (\d+)/.exec(parsed.text.slice(start, end))?.[1]),
        pages.map((_, i) => (i === 158 ? undefined : String(i + 1)))
      )
      assert.deepStrictEqual(
        parsed.figures.map(({ crop, number, page }) => [number, page, (crop?.length ?? 0) > 100]),
        [["1", 159, true]]
      )
    })
  )

  it.effect(
    "of 10,000 pages is read",
    () =>
      Effect.gen(function* () {
        const parsed = yield* read(
          Array.from({ length: 10_000 }, (_, i) => ({
            marks: [{ text: `Sheet ${i} of a ledger.`, x: 60, y: 700 }]
          }))
        )
        assert.strictEqual(parsed.pages.length, 10_000)
        assert.include(parsed.text, "Sheet 9999 of a ledger.")
      }),
    120_000
  )
})
