/** Reads what is drawn on a page besides text: the boxes of paths, images and shadings. */
import type { Box } from "../../../document/Document.ts"
import { height, union, width } from "../page/Box.ts"
import { compose, type LoadedPage, mapBox, type Matrix } from "./PageTransform.ts"
import { memoryOf } from "./PdfiumLibrary.ts"
import type { Graphic, PageTags } from "../page/Run.ts"
import type { Structure } from "./Structure.ts"

/** Types of page objects, as PDFium numbers them. */
const PATH = 2
const IMAGE = 3
const SHADING = 4
const FORM = 5

/** Depth of nested forms. */
const MAX_DEPTH = 12
/** Objects read on one page. Pages with more are plotter drawings, and these show where. */
const MAX_OBJECTS = 60_000
/** Path points read on one page. Beyond them, PDFium's wider bounds are used. */
const MAX_POINTS = 200_000
/** With more graphics than this, small ones that are near each other are merged. */
const MAX_GRAPHICS = 600
/** Points: graphics smaller than this are merged, in cells of this size. */
const CELL_SIZE = 24
/** Points: lines are at most this thick. */
const MAX_LINE_WIDTH = 3
/** Channels from this value on are white paper. */
const WHITE = 250

const intersect = (a: Box, b: Box): Box => [
  Math.max(a[0], b[0]),
  Math.max(a[1], b[1]),
  Math.min(a[2], b[2]),
  Math.min(a[3], b[3])
]

/** Merges neighbouring small graphics, so that a map of 100,000 strokes can be processed. */
const mergeSmall = (graphics: ReadonlyArray<Graphic>): ReadonlyArray<Graphic> => {
  if (graphics.length <= MAX_GRAPHICS) return graphics
  const cells = new Map<number, Graphic>()
  const large: Array<Graphic> = []
  for (const graphic of graphics) {
    const { box } = graphic
    if (width(box) > CELL_SIZE || height(box) > CELL_SIZE) {
      large.push(graphic)
      continue
    }
    const key = Math.floor(box[0] / CELL_SIZE) * 10_007 + Math.floor(box[1] / CELL_SIZE)
    cells.set(key, { kind: "path", shape: "other", box: union(cells.get(key)?.box ?? box, box) })
  }
  if (large.length <= 4 * MAX_GRAPHICS) return [...large, ...cells.values()]
  // Of thousands of long strokes one at each place suffices
  const places = new Map(large.map((one) => [one.box.map((v) => Math.round(v / 6)).join(), one]))
  return [...[...places.values()].slice(0, 8 * MAX_GRAPHICS), ...cells.values()]
}

/** Collects the graphics of one page. */
class GraphicsReader {
  readonly graphics: Array<Graphic> = []
  /** The extent of each tagged figure, by its part. */
  readonly drawn = new Map<number, Box>()
  readonly #figures: ReadonlySet<number>
  readonly #pdfium: LoadedPage["pdfium"]
  readonly #scratch: number
  readonly #structure: Structure | undefined
  #objects = 0
  #points = 0

  constructor({ pdfium, scratch }: LoadedPage, structure: Structure | undefined) {
    this.#pdfium = pdfium
    this.#scratch = scratch
    this.#structure = structure
    this.#figures = new Set(structure?.figures.map(({ part }) => part))
  }

  /** Floats that PDFium wrote to the scratch memory. */
  #floats(count: number): Float32Array {
    const at = this.#scratch >> 2
    return memoryOf(this.#pdfium).HEAPF32.subarray(at, at + count)
  }

  #integers(count: number): Int32Array {
    const at = this.#scratch >> 2
    return memoryOf(this.#pdfium).HEAP32.subarray(at, at + count)
  }

  #matrixOf(object: number): Matrix {
    if (!this.#pdfium.FPDFPageObj_GetMatrix(object, this.#scratch)) return [1, 0, 0, 1, 0, 0]
    const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = this.#floats(6)
    return [a, b, c, d, e, f]
  }

  /** The bounding box of path segments, and whether all are horizontal or vertical. */
  #boundsOfSegments(count: number, segmentAt: (index: number) => number, matrix: Matrix) {
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity]
    let [px, py] = [NaN, NaN]
    let straight = true
    const at = this.#scratch >> 2
    for (let i = 0; i < count; i++) {
      if (!this.#pdfium.FPDFPathSegment_GetPoint(segmentAt(i), this.#scratch, this.#scratch + 4)) continue
      const heap = memoryOf(this.#pdfium).HEAPF32
      const x = matrix[0] * heap[at]! + matrix[2] * heap[at + 1]! + matrix[4]
      const y = matrix[1] * heap[at]! + matrix[3] * heap[at + 1]! + matrix[5]
      if (!Number.isFinite(x + y)) continue
      if (x < x0) x0 = x
      if (x > x1) x1 = x
      if (y < y0) y0 = y
      if (y > y1) y1 = y
      if (i > 0 && Math.abs(x - px) > 0.5 && Math.abs(y - py) > 0.5) straight = false
      px = x
      py = y
    }
    this.#points += count
    const box: Box = [x0, y0, x1, y1]
    return { box, straight }
  }

  #clipOf(object: number, matrix: Matrix, clip: Box): Box {
    const path = this.#pdfium.FPDFPageObj_GetClipPath(object)
    const paths = path === 0 ? 0 : this.#pdfium.FPDFClipPath_CountPaths(path)
    let box = clip
    for (let i = 0; i < paths && this.#points < MAX_POINTS; i++) {
      const count = Math.min(2000, this.#pdfium.FPDFClipPath_CountPathSegments(path, i))
      const segmentAt = (j: number) => this.#pdfium.FPDFClipPath_GetPathSegment(path, i, j)
      if (count > 0) box = intersect(box, this.#boundsOfSegments(count, segmentAt, matrix).box)
    }
    return box
  }

  #boundsOf(object: number, matrix: Matrix): Box | undefined {
    const at = this.#scratch
    if (!this.#pdfium.FPDFPageObj_GetBounds(object, at, at + 4, at + 8, at + 12)) return undefined
    const [left = 0, bottom = 0, right = 0, top = 0] = this.#floats(4)
    return mapBox(matrix, left, bottom, right, top)
  }

  #paintOf(object: number): "none" | "white" | "fill" | "stroke" {
    const at = this.#scratch
    this.#pdfium.FPDFPath_GetDrawMode(object, at, at + 4)
    const [fill, stroke] = this.#integers(2)
    if (fill === 0 && stroke === 0) return "none"
    const paint = stroke === 0 ? "fill" : "stroke"
    const colour =
      paint === "stroke" ? this.#pdfium.FPDFPageObj_GetStrokeColor : this.#pdfium.FPDFPageObj_GetFillColor
    if (!colour(object, at, at + 4, at + 8, at + 12)) return paint
    const [red = 0, green = 0, blue = 0, alpha] = this.#integers(4)
    if (alpha === 0) return "none"
    return Math.min(red, green, blue) >= WHITE ? "white" : paint
  }

  #addPath(object: number, matrix: Matrix, clip: Box, figure: number | undefined): void {
    const paint = this.#paintOf(object)
    if (paint === "none" || paint === "white") return
    const count = this.#pdfium.FPDFPath_CountSegments(object)
    if (count <= 0) return
    const own = compose(this.#matrixOf(object), matrix)
    const segmentAt = (i: number) => this.#pdfium.FPDFPath_GetPathSegment(object, i)
    const { box, straight } =
      this.#points + count < MAX_POINTS
        ? this.#boundsOfSegments(count, segmentAt, own)
        : { box: this.#boundsOf(object, matrix), straight: false }
    if (box === undefined) return
    const isFrame = straight && count >= 4 && count <= 6
    const isFilled = isFrame && Math.min(width(box), height(box)) > MAX_LINE_WIDTH
    const shape = isFrame && paint === "stroke" ? "frame" : isFilled ? "filled" : "other"
    this.#add({ kind: "path", shape, box }, clip, figure, straight)
  }

  #add(graphic: Graphic, clip: Box, figure: number | undefined, straight = true): void {
    const box = intersect(graphic.box, clip)
    if (box[2] < box[0] || box[3] < box[1] || !box.every(Number.isFinite)) return
    if (figure !== undefined) this.drawn.set(figure, union(this.drawn.get(figure) ?? box, box))
    const [w, h] = [width(box), height(box)]
    // Lines are drawn as strokes, thin rectangles, and in some programs thin images
    const isHorizontal = straight && h <= MAX_LINE_WIDTH && w > 8
    const isVertical = straight && w <= MAX_LINE_WIDTH && h > 8
    const line = isHorizontal ? "horizontal" : isVertical ? "vertical" : undefined
    this.graphics.push(line === undefined ? { ...graphic, box } : { kind: "path", shape: line, box })
  }

  /** The tagged figure that an object belongs to; by default that of the form which draws the object. */
  #figureOf(object: number, outer: number | undefined): number | undefined {
    if (this.#figures.size === 0) return undefined
    const part = this.#structure?.parts.get(this.#pdfium.FPDFPageObj_GetMarkedContentID(object))
    return part !== undefined && this.#figures.has(part) ? part : outer
  }

  /** Reads the objects of a page or form. */
  read(
    count: number,
    objectAt: (index: number) => number,
    matrix: Matrix,
    clip: Box,
    depth = 0,
    outer?: number
  ): void {
    for (let i = 0; i < count && this.#objects < MAX_OBJECTS; i++) {
      const object = objectAt(i)
      if (object === 0) continue
      this.#objects++
      const type = this.#pdfium.FPDFPageObj_GetType(object)
      if (type !== PATH && type !== IMAGE && type !== SHADING && type !== FORM) continue
      const visible = this.#clipOf(object, matrix, clip)
      if (visible[2] < visible[0] || visible[3] < visible[1]) continue
      const figure = this.#figureOf(object, outer)
      if (type === PATH) this.#addPath(object, matrix, visible, figure)
      else if (type === IMAGE) {
        const box = mapBox(compose(this.#matrixOf(object), matrix), 0, 0, 1, 1)
        this.#add({ kind: "image", shape: "other", box }, visible, figure)
      } else if (type === SHADING) {
        const box = this.#boundsOf(object, matrix)
        if (box !== undefined) this.#add({ kind: "shading", shape: "other", box }, visible, figure)
      } else if (depth < MAX_DEPTH) {
        const children = this.#pdfium.FPDFFormObj_CountObjects(object)
        const childAt = (j: number) => this.#pdfium.FPDFFormObj_GetObject(object, j)
        const own = compose(this.#matrixOf(object), matrix)
        this.read(children, childAt, own, visible, depth + 1, figure)
      }
    }
  }
}

/** Reads the graphics of a page, and the extent of each figure tagged in `structure`. */
export const readGraphics = (
  page: LoadedPage,
  structure?: Structure
): { readonly graphics: ReadonlyArray<Graphic>; readonly tags?: PageTags } => {
  const { handle, pdfium } = page
  const reader = new GraphicsReader(page, structure)
  const objectAt = (index: number) => pdfium.FPDFPage_GetObject(handle, index)
  const paper: Box = [0, 0, page.width, page.height]
  reader.read(pdfium.FPDFPage_CountObjects(handle), objectAt, page.toShown, paper)
  const graphics = mergeSmall(reader.graphics)
  if (structure === undefined || structure.parts.size === 0) return { graphics }
  const { figures, tables } = structure
  return { graphics, tags: { tables, figures, drawn: reader.drawn } }
}
