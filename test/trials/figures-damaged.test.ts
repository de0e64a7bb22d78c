/** Pages of damaged files, with arbitrary boxes up to the limits. The figure finder terminates. */
import { assert, describe, it } from "@effect/vitest"
import type { Box } from "../../packages/rag/src/document/Document.ts"
import { findFigures } from "../../packages/rag/src/formats/pdf/figures/Figures.ts"
import { toParsed } from "../../packages/rag/src/formats/pdf/layout/PdfDocument.ts"
import type { Graphic, RawPage, Run } from "../../packages/rag/src/formats/pdf/page/Run.ts"
import { brokenLaw } from "../rag/FigureLaws.ts"

const WIDTH = 595
const HEIGHT = 842
const RUNS = 50_000
const GRAPHICS = 60_000

/** A reproducible random number, 0 to 1. */
const randomOf = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

type Place = (index: number, random: () => number) => Box

/** Anywhere within three pages, of any size. */
const anywhere: Place = (_, random) => {
  const [x0, y0] = [(random() * 3 - 1) * WIDTH, (random() * 3 - 1) * HEIGHT]
  return [x0, y0, x0 + random() ** 4 * (2 * WIDTH - x0), y0 + random() ** 4 * (2 * HEIGHT - y0)]
}
const onePoint: Place = () => [300, 400, 300, 400]
const oneLine: Place = (index) => [index / 100, 400, index / 100 + 0.001, 410]
const stairs: Place = (index) => {
  const at = (index / RUNS) * HEIGHT
  return [50, at, 60, at + 0.001]
}
const wholePaper: Place = () => [-WIDTH, -HEIGHT, 2 * WIDTH, 2 * HEIGHT]
const labels: Place = (index) => {
  const [x, y] = [(index % 200) * 3, Math.floor(index / 200) * 3.3]
  return [x, y, x + 2, y + 3]
}

const SHAPES = ["horizontal", "vertical", "frame", "filled", "other"] as const
const TEXTS = [
  "Gate",
  "4.2",
  "a line of words that is as long as one of running text is in a column",
  "level-"
]

const pageOf = (
  [runs, graphics]: readonly [Place, Place],
  text: (index: number) => string,
  number: number
): RawPage => {
  const random = randomOf(number)
  return {
    number,
    width: WIDTH,
    height: HEIGHT,
    failed: false,
    runs: Array.from({ length: RUNS }, (_, i): Run => {
      const box = runs(i, random)
      const [x0, y0, x1, y1] = box
      const size = random() < 0.01 ? 0 : Math.min(y1 - y0, HEIGHT)
      return { text: text(i), x0, y0, x1, y1, box, size, bold: i % 7 === 0, mono: i % 11 === 0, turn: 0 }
    }),
    graphics: Array.from({ length: GRAPHICS }, (_, i): Graphic => ({
      kind: i % 97 === 0 ? "image" : "path",
      shape: SHAPES[i % SHAPES.length]!,
      box: graphics(i, random)
    }))
  }
}

const words = (index: number): string => TEXTS[index % TEXTS.length]!
const someCaptions = (index: number): string =>
  index % 2_000 === 0 ? `Figure ${index}: Gates` : words(index)
const onlyCaptions = (index: number): string => `Figure ${index}: Gates of the lock`

describe("a page of 50,000 texts and 60,000 drawings", () => {
  it.each([
    ["anywhere", [anywhere, anywhere], someCaptions],
    ["at one point", [onePoint, onePoint], someCaptions],
    ["on one line", [oneLine, anywhere], someCaptions],
    ["on stairs of their own", [stairs, stairs], someCaptions],
    ["over the whole paper", [wholePaper, wholePaper], someCaptions],
    ["as labels of a map", [labels, anywhere], someCaptions],
    ["that all begin captions", [anywhere, anywhere], onlyCaptions]
  ] as const)("%s has figures within the page", (_, places, text) => {
    const page = pageOf(places, text, 1)
    const figures = findFigures([page])
    for (const { box } of figures) {
      assert.isTrue(box[0] >= 0 && box[1] >= 0 && box[2] <= WIDTH && box[3] <= HEIGHT && box[2] >= box[0])
    }
    const { parsed } = toParsed({ title: "", pages: [page], figures })
    assert.isUndefined(brokenLaw(parsed))
    assert.include(parsed.text, "Gate")
  })
})
