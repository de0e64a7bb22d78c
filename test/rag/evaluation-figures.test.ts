/** Scores of found figures against marked ones, by hand and for real PDFs. */
import { assert, describe, it } from "@effect/vitest"
import {
  evaluateFigures,
  type FoundFigure,
  iou,
  type MarkedFigure,
  scoreFigures
} from "@sluice/rag/evaluation"
import { Effect } from "effect"
import { writePdf } from "./PdfWriter.ts"
import { testFolder } from "./TestFolder.ts"

const mark = (number: string, box: MarkedFigure["box"], more: Partial<MarkedFigure> = {}): MarkedFigure => ({
  document: "a.pdf",
  page: 1,
  kind: "figure",
  number,
  box,
  ...more
})
const find = (number: string, box: MarkedFigure["box"], more: Partial<FoundFigure> = {}): FoundFigure => ({
  ...mark(number, box),
  captioned: true,
  ...more
})

describe("scores of figures", () => {
  it("measures overlap as intersection over union", () => {
    assert.strictEqual(iou([0, 0, 10, 10], [0, 0, 10, 10]), 1)
    assert.closeTo(iou([0, 0, 10, 10], [5, 0, 15, 10]), 50 / 150, 1e-12)
    assert.strictEqual(iou([0, 0, 10, 10], [10, 0, 20, 10]), 0)
    assert.strictEqual(iou([0, 0, 0, 0], [0, 0, 0, 0]), 0)
  })

  it("pairs each mark and each found figure once, by the largest overlap", () => {
    const marks = [mark("1", [0, 0, 100, 100]), mark("2", [0, 200, 100, 300])]
    const finds = [
      // Two figures are found for one mark: the second has the larger overlap.
      find("9", [0, 0, 100, 80]),
      find("1", [0, 0, 100, 100]),
      find("2", [0, 200, 100, 250])
    ]
    const scores = scoreFigures(marks, finds)
    assert.deepStrictEqual(
      [scores.precision, scores.recall, scores.numberAndKindRight, scores.meanIoU],
      [1 / 3, 1 / 2, 1, 1]
    )
    assert.deepStrictEqual(
      scores.misses.map(({ found, iou, number, what }) => [what, number, found?.number, iou]),
      [
        ["missed", "2", "2", 0.5],
        ["unexpected", "9", undefined, 0.8],
        ["unexpected", "2", undefined, 0.5]
      ]
    )
  })

  it("ignores pages without marks, and compares kind and number separately", () => {
    const marks = [
      mark("1", [0, 0, 100, 100]),
      mark("2", [0, 0, 100, 100], { page: 2, kind: "table" }),
      mark("1", [0, 0, 100, 100], { document: "b.pdf" })
    ]
    const finds = [
      find("1", [0, 0, 100, 90]),
      find("2", [0, 0, 100, 100], { page: 2, captioned: false }),
      find("7", [0, 0, 100, 100], { document: "b.pdf" }),
      find("3", [0, 0, 50, 50], { page: 3 })
    ]
    const scores = scoreFigures(marks, finds)
    assert.deepStrictEqual([scores.precision, scores.recall], [1, 1])
    assert.closeTo(scores.numberAndKindRight, 1 / 3, 1e-12)
    assert.closeTo(scores.captionRate, 2 / 3, 1e-12)
    assert.closeTo(scores.meanIoU, 2.9 / 3, 1e-12)
    assert.deepStrictEqual(
      scores.misses.map(({ document, found, what }) => [what, document, found?.kind, found?.number]),
      [
        ["misread", "a.pdf", "figure", "2"],
        ["misread", "b.pdf", "figure", "7"]
      ]
    )
    assert.deepStrictEqual(
      [scoreFigures(marks, []).precision, scoreFigures([], finds).recall, scoreFigures([], []).meanIoU],
      [0, 0, 0]
    )
  })

  it.live("reads the PDFs of gold.json, and reports invalid files", () =>
    Effect.gen(function* () {
      const { folder, write } = yield* testFolder
      const marks = (document: string) => JSON.stringify([{ ...mark("1", [50, 50, 200, 200]), document }])
      yield* write("figures/gold.json", marks("plain.pdf"))
      yield* write(
        "figures/plain.pdf",
        writePdf([{ marks: [{ text: "A page of text and nothing else.", x: 50, y: 700 }] }])
      )
      const { misses, ...figures } = yield* evaluateFigures({ data: folder })
      assert.deepStrictEqual([figures.precision, figures.recall], [0, 0])
      assert.deepStrictEqual(
        misses.map(({ document, what }) => [what, document]),
        [["missed", "plain.pdf"]]
      )
      assert.isAbove(figures.pagesPerSecond, 0)
      assert.isAbove(figures.pagesPerSecondCold, 0)
      assert.isAbove(figures.peakMemoryMB, 10)

      yield* write("figures/gold.json", marks("gone.pdf"))
      const gone = yield* Effect.flip(evaluateFigures({ data: folder }))
      assert.deepStrictEqual([gone.stage, gone.reason], ["evaluate", "NotFound"])
      yield* write("figures/gold.json", '[{ "document": "plain.pdf", "page": "one" }]')
      const broken = yield* Effect.flip(evaluateFigures({ data: folder }))
      assert.deepStrictEqual([broken.stage, broken.reason], ["evaluate", "Malformed"])
    }).pipe(Effect.scoped)
  )
})
