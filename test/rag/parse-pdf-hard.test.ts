/** PDFs that are hard on a reader: scans, bombs, recursion, thousands of pages. */
import { assert, describe, it } from "@effect/vitest"
import { layerVision } from "@sluice/embedded/vision"
import { Effect } from "effect"
import { parse } from "../../packages/rag/src/parse/Parser.ts"
import { renderPage } from "../../packages/rag/src/parse/pdf/Pdf.ts"
import { column, type Mark, type PdfPage, writePdf } from "./PdfWriter.ts"

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

/** The picture of a page as the only thing on a page: its PNG's own stream of rows. */
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
    "are read by image understanding, line by line at their places; without it that is said",
    () =>
      Effect.gen(function* () {
        const png = yield* renderPage("a.pdf", writePdf([{ marks: lines }]), 1, { dpi: 150 })
        const pages = [scanOf(png), { marks: column(60, 740, ["A page with text."]) }]
        const parsed = yield* read(pages).pipe(Effect.provide(layerVision))
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

describe("a PDF", () => {
  const caption: Mark = { text: "Figure 1: The gates.", x: 60, y: 380 }

  it.effect("without pages is refused", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read([]))
      assert.oneOf(error.reason, ["Empty", "Malformed"])
    })
  )

  it.effect("whose form calls itself is read", () =>
    Effect.gen(function* () {
      const parsed = yield* read([
        { marks: [...lines, caption], draw: "/X Do", form: "40 220 60 60 re f /X Do" }
      ])
      assert.include(parsed.text, "Bearings wear")
    })
  )

  it.live("with 200,000 paths on a page is read, and its figure found", () =>
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

  it.live("with an image of 400 million pixels that are not there is read without it growing to that", () =>
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
