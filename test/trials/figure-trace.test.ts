/** What the figure finder saw, drawn over the pages. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { drawFigureTraces, renderPage, TRACE_COLOURS } from "@sluice/rag/formats"
import { Effect } from "effect"
import sharp from "sharp"

const bytes = readFileSync(join(import.meta.dirname, "../rag/fixtures/figures/bold-labels.pdf"))
const DPI = 72

const pixelAt = (png: Uint8Array, x: number, y: number) =>
  Effect.promise(async () => {
    const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true })
    return [...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3)]
  })

describe("drawFigureTraces", () => {
  it.live("draws the box of a chosen figure where it was found", () =>
    Effect.gen(function* () {
      const traces = yield* drawFigureTraces("a.pdf", bytes, { dpi: DPI })
      const first = traces.find(({ trace }) => trace.figures.length > 0)
      assert.isDefined(first)
      const { box } = first.trace.figures[0] ?? assert.fail("no figure")
      const [x, y] = [Math.round(box[0]), Math.round((box[1] + box[3]) / 2)]
      assert.deepStrictEqual(yield* pixelAt(first.png, x, y), [...TRACE_COLOURS.figures])
      const plain = yield* renderPage("a.pdf", bytes, first.trace.page, { dpi: DPI })
      assert.notDeepEqual(yield* pixelAt(plain, x, y), [...TRACE_COLOURS.figures])
    })
  )

  it.live("has the captions and the candidate regions of a figure", () =>
    Effect.gen(function* () {
      const traces = yield* drawFigureTraces("a.pdf", bytes, { dpi: DPI })
      assert.isAbove(traces.flatMap(({ trace }) => trace.captions).length, 0)
      assert.isAbove(traces.flatMap(({ trace }) => trace.regions).length, 0)
    })
  )
})
