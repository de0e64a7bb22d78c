/** What is drawn on a page besides text: paths, images, shadings, with their boxes. */
import type { Box } from "../../../document/Document.ts"
import { hull } from "../page/Box.ts"
import { compose, mapBox, type Matrix } from "./PageTransform.ts"
import { memoryOf, type Pdfium } from "./PdfiumLibrary.ts"
import type { Graphic, PageTags } from "../page/Run.ts"
import type { Structure } from "./Structure.ts"

const PATH = 2
const IMAGE = 3
const SHADING = 4
const FORM = 5

/** Forms within forms, this deep. */
const DEPTH = 12
/** Objects of one page that are looked at; a page of more is drawn by a plotter, and these tell where. */
const OBJECTS = 60_000
/** Points of paths of one page that are looked at; after them PDFium's own bounds, which are wider, must do. */
const POINTS = 200_000
/** Above this many, small graphics that are near each other count as one. */
const MANY = 600
/** … those smaller than this, in cells of this size; points. */
const SMALL = 24
/** A line is at most this thick. */
const THIN = 3
/** A channel from this on is white paper. */
const WHITE = 250

const intersect = (a: Box, b: Box): Box => [
  Math.max(a[0], b[0]),
  Math.max(a[1], b[1]),
  Math.min(a[2], b[2]),
  Math.min(a[3], b[3])
]

/** Neighbouring small graphics as one each, so that a map of a hundred thousand strokes stays workable. */
const merged = (graphics: ReadonlyArray<Graphic>): ReadonlyArray<Graphic> => {
  if (graphics.length <= MANY) return graphics
  const cells = new Map<number, Graphic>()
  const rest: Array<Graphic> = []
  for (const graphic of graphics) {
    const [x0, y0, x1, y1] = graphic.box
    if (x1 - x0 > SMALL || y1 - y0 > SMALL) {
      rest.push(graphic)
      continue
    }
    const key = Math.floor(x0 / SMALL) * 10_007 + Math.floor(y0 / SMALL)
    const own = cells.get(key)?.box ?? graphic.box
    cells.set(key, {
      kind: "path",
      shape: "other",
      box: [Math.min(own[0], x0), Math.min(own[1], y0), Math.max(own[2], x1), Math.max(own[3], y1)]
    })
  }
  // Long strokes by the thousand: the outermost ones of each place are enough
  const kept =
    rest.length <= 4 * MANY
      ? rest
      : [...new Map(rest.map((one) => [one.box.map((v) => Math.round(v / 6)).join(), one])).values()].slice(
          0,
          8 * MANY
        )
  return [...kept, ...cells.values()]
}

/** Collects the graphics of one page. */
class GraphicsReader {
  readonly graphics: Array<Graphic> = []
  readonly #figures: ReadonlySet<number>
  readonly #drawn = new Map<number, Box>()
  readonly #pdfium: Pdfium
  readonly #scratch: number
  readonly #structure: Structure | undefined
  /** Index of the scratch memory in words of four bytes. */
  readonly #at: number
  #objects = 0
  #points = 0

  constructor(pdfium: Pdfium, scratch: number, structure: Structure | undefined) {
    this.#pdfium = pdfium
    this.#scratch = scratch
    this.#at = scratch >> 2
    this.#structure = structure
    this.#figures = new Set(structure?.figures.map(({ part }) => part))
  }

  /** Reads a page and returns where the graphics of each tagged figure are drawn. */
  read(page: number, toShown: Matrix, paper: Box): ReadonlyMap<number, Box> {
    const pdfium = this.#pdfium
    const objectAt = (index: number) => pdfium.FPDFPage_GetObject(page, index)
    this.#walk(pdfium.FPDFPage_CountObjects(page), objectAt, toShown, paper, 0)
    return this.#drawn
  }

  #matrixOf(object: number): Matrix {
    if (!this.#pdfium.FPDFPageObj_GetMatrix(object, this.#scratch)) return [1, 0, 0, 1, 0, 0]
    const heap = memoryOf(this.#pdfium).HEAPF32
    return [
      heap[this.#at]!,
      heap[this.#at + 1]!,
      heap[this.#at + 2]!,
      heap[this.#at + 3]!,
      heap[this.#at + 4]!,
      heap[this.#at + 5]!
    ]
  }

  /** Around the segments, and whether all run along the axes. */
  #around(count: number, segmentAt: (index: number) => number, matrix: Matrix) {
    let x0 = Infinity
    let y0 = Infinity
    let x1 = -Infinity
    let y1 = -Infinity
    let px = NaN
    let py = NaN
    let straight = true
    for (let i = 0; i < count; i++) {
      if (!this.#pdfium.FPDFPathSegment_GetPoint(segmentAt(i), this.#scratch, this.#scratch + 4)) continue
      const heap = memoryOf(this.#pdfium).HEAPF32
      const x = matrix[0] * heap[this.#at]! + matrix[2] * heap[this.#at + 1]! + matrix[4]
      const y = matrix[1] * heap[this.#at]! + matrix[3] * heap[this.#at + 1]! + matrix[5]
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
    for (let i = 0; i < paths; i++) {
      if (this.#points >= POINTS) break
      const count = this.#pdfium.FPDFClipPath_CountPathSegments(path, i)
      if (count > 0)
        box = intersect(
          box,
          this.#around(
            Math.min(count, 2000),
            (j) => this.#pdfium.FPDFClipPath_GetPathSegment(path, i, j),
            matrix
          ).box
        )
    }
    return box
  }

  #boundsOf(object: number, matrix: Matrix): Box | undefined {
    if (
      !this.#pdfium.FPDFPageObj_GetBounds(
        object,
        this.#scratch,
        this.#scratch + 4,
        this.#scratch + 8,
        this.#scratch + 12
      )
    )
      return undefined
    const heap = memoryOf(this.#pdfium).HEAPF32
    return mapBox(matrix, heap[this.#at]!, heap[this.#at + 1]!, heap[this.#at + 2]!, heap[this.#at + 3]!)
  }

  #paintOf(object: number): "none" | "white" | "fill" | "stroke" {
    this.#pdfium.FPDFPath_GetDrawMode(object, this.#scratch, this.#scratch + 4)
    const ints = memoryOf(this.#pdfium).HEAP32
    const fill = ints[this.#at]! !== 0
    const stroke = ints[this.#at + 1]! !== 0
    if (!fill && !stroke) return "none"
    const read = stroke ? this.#pdfium.FPDFPageObj_GetStrokeColor : this.#pdfium.FPDFPageObj_GetFillColor
    if (!read(object, this.#scratch, this.#scratch + 4, this.#scratch + 8, this.#scratch + 12))
      return stroke ? "stroke" : "fill"
    const [r, g, b, alpha] = [0, 1, 2, 3].map((i) => memoryOf(this.#pdfium).HEAP32[this.#at + i]!)
    if (alpha === 0) return "none"
    return Math.min(r!, g!, b!) >= WHITE ? "white" : stroke ? "stroke" : "fill"
  }

  #addPath(object: number, matrix: Matrix, clip: Box, figure: number | undefined): void {
    const paint = this.#paintOf(object)
    if (paint === "none" || paint === "white") return
    const count = this.#pdfium.FPDFPath_CountSegments(object)
    if (count <= 0) return
    const own = compose(this.#matrixOf(object), matrix)
    const exact = this.#points + count < POINTS
    const found = exact
      ? this.#around(count, (i) => this.#pdfium.FPDFPath_GetPathSegment(object, i), own)
      : { box: this.#boundsOf(object, matrix), straight: false }
    if (found.box === undefined) return
    const [w, h] = [found.box[2] - found.box[0], found.box[3] - found.box[1]]
    const shape =
      found.straight && count <= 6 && count >= 4 && (paint === "stroke" || Math.min(w, h) > THIN)
        ? paint === "stroke"
          ? "frame"
          : "filled"
        : "other"
    this.#add({ kind: "path", shape, box: found.box }, clip, figure, found.straight)
  }

  #add(graphic: Graphic, clip: Box, figure: number | undefined, straight = true): void {
    const box = intersect(graphic.box, clip)
    if (box[2] < box[0] || box[3] < box[1] || !box.every(Number.isFinite)) return
    if (figure !== undefined) this.#drawn.set(figure, hull([this.#drawn.get(figure) ?? box, box]))
    const [w, h] = [box[2] - box[0], box[3] - box[1]]
    // Lines are drawn as strokes, as thin rectangles, and by some programs as thin images
    const thin =
      straight && h <= THIN && w > 8 ? "horizontal" : straight && w <= THIN && h > 8 ? "vertical" : undefined
    this.graphics.push(thin === undefined ? { ...graphic, box } : { kind: "path", shape: thin, box })
  }

  /** The figure whose content an object is; what a form draws is of the form's. */
  #figureOf(object: number, outer: number | undefined): number | undefined {
    if (this.#figures.size === 0) return undefined
    const part = this.#structure?.parts.get(this.#pdfium.FPDFPageObj_GetMarkedContentID(object))
    return part !== undefined && this.#figures.has(part) ? part : outer
  }

  #walk(
    count: number,
    objectAt: (index: number) => number,
    matrix: Matrix,
    clip: Box,
    depth: number,
    outer?: number
  ): void {
    for (let i = 0; i < count && this.#objects < OBJECTS; i++) {
      const object = objectAt(i)
      if (object === 0) continue
      this.#objects++
      const type = this.#pdfium.FPDFPageObj_GetType(object)
      if (type !== PATH && type !== IMAGE && type !== SHADING && type !== FORM) continue
      const visible = this.#clipOf(object, matrix, clip)
      if (visible[2] < visible[0] || visible[3] < visible[1]) continue
      const figure = this.#figureOf(object, outer)
      if (type === PATH) this.#addPath(object, matrix, visible, figure)
      else if (type === IMAGE)
        this.#add(
          { kind: "image", shape: "other", box: mapBox(compose(this.#matrixOf(object), matrix), 0, 0, 1, 1) },
          visible,
          figure
        )
      else if (type === SHADING) {
        const box = this.#boundsOf(object, matrix)
        if (box !== undefined) this.#add({ kind: "shading", shape: "other", box }, visible, figure)
      } else if (depth < DEPTH) {
        const children = this.#pdfium.FPDFFormObj_CountObjects(object)
        this.#walk(
          children,
          (j) => this.#pdfium.FPDFFormObj_GetObject(object, j),
          compose(this.#matrixOf(object), matrix),
          visible,
          depth + 1,
          figure
        )
      }
    }
  }
}

/**
 * Reads the graphics of a page, and the extent of each figure that is tagged in `structure`. `toShown` maps page space to
 * the page as shown, `width` × `height` points.
 */
export const readGraphics = (
  pdfium: Pdfium,
  page: number,
  scratch: number,
  toShown: Matrix,
  width: number,
  height: number,
  structure?: Structure
): { readonly graphics: ReadonlyArray<Graphic>; readonly tags?: PageTags } => {
  const reader = new GraphicsReader(pdfium, scratch, structure)
  const drawn = reader.read(page, toShown, [0, 0, width, height])
  const graphics = merged(reader.graphics)
  if (structure === undefined || structure.parts.size === 0) return { graphics }
  const { figures, tables } = structure
  return { graphics, tags: { tables, figures, drawn } }
}
