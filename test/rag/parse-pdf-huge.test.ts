/** Huge pages are parsed in about linear time. */
import { assert, describe, it } from "@effect/vitest"
import type { Box } from "../../packages/rag/src/document/Document.ts"
import { readingOrder } from "../../packages/rag/src/formats/pdf/layout/Columns.ts"
import type { RawPage, Run } from "../../packages/rag/src/formats/pdf/page/Run.ts"

const page = (rest: Partial<RawPage>): RawPage => ({
  number: 1,
  width: 600,
  height: 800,
  runs: [],
  graphics: [],
  failed: false,
  ...rest
})

describe("a huge page", () => {
  it("of 150,000 lines has a column as wide as its widest line", () => {
    const runs = Array.from({ length: 150_000 }, (_, i): Run => {
      const [x0, y0, x1, y1]: Box = [i % 50, 2 * i, 500 + (i % 70), 2 * i + 1]
      const box: Box = [x0, y0, x1, y1]
      return { text: `Line ${i}`, x0, y0, x1, y1, box, size: 1, bold: false, mono: false, turn: 0 }
    })
    const lines = readingOrder(page({ runs, height: 300_000 }))
    assert.strictEqual(lines.length, runs.length)
    assert.deepStrictEqual(lines[77_777]?.column, { left: 0, right: 569, index: 0 })
  })
})
