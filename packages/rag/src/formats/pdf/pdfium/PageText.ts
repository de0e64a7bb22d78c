/** The text of a page: characters and their boxes to runs. */
import type { Box } from "../../../document/Document.ts"
import { mapBox, type Matrix } from "./PageTransform.ts"
import { memoryOf, type Pdfium } from "./PdfiumLibrary.ts"
import type { Run, Turn } from "../page/Run.ts"
import type { Structure } from "./Structure.ts"
import { type TextStyle, RunBuilder } from "./RunBuilder.ts"

/** Scratch memory for what PDFium writes back. */
export const SCRATCH = 1024

const BOLD = /bold|black|heavy|semibold|demi|medi\b|-bd|cmbx/i
const MONO = /mono|courier|consol|typewriter|menlo|cmtt|code/i

/** From this many characters on it can be said whether a text is readable. */
const ENOUGH = 8
/** Fonts that number their glyphs show hardly a small Latin letter; old ones without a map give the letters themselves. */
const SMALL_LETTERS = 0.4

/** Not farther from the page than it is large: damaged numbers put characters a thousand million points away, or nowhere. */
const isNear = (box: Box, width: number, height: number): boolean =>
  box[2] >= -width && box[0] <= 2 * width && box[3] >= -height && box[1] <= 2 * height

export interface PageText {
  readonly runs: ReadonlyArray<Run>
  /** Its fonts do not say which characters their glyphs are: what comes out is no text. */
  readonly unreadable: boolean
}

/** The runs of a page's text, in the order of the file. `toShown` maps page space to the page as shown; `structure` tells headings, and parts of tables and figures. */
export const readText = (
  pdfium: Pdfium,
  page: number,
  text: number,
  scratch: number,
  toShown: Matrix,
  width: number,
  height: number,
  structure?: Structure
): PageText => {
  const rotation = pdfium.FPDFPage_GetRotation(page)
  const runs = new RunBuilder(width, height)
  const fonts = new Map<number, Pick<TextStyle, "font" | "bold" | "mono" | "heading" | "part">>()

  const lookAt = (index: number): TextStyle => {
    const object = pdfium.FPDFText_GetTextObject(text, index)
    let font = fonts.get(object)
    if (font === undefined) {
      const length = pdfium.FPDFText_GetFontInfo(text, index, scratch, SCRATCH - 8, scratch + SCRATCH - 8)
      const name =
        length > 1
          ? Buffer.from(
              memoryOf(pdfium).HEAPU8.subarray(scratch, scratch + Math.min(length, SCRATCH - 8) - 1)
            ).toString()
          : ""
      font = {
        font: name,
        bold: BOLD.test(name) || pdfium.FPDFText_GetFontWeight(text, index) >= 650,
        mono: MONO.test(name)
      }
      if (structure !== undefined) {
        const content = pdfium.FPDFPageObj_GetMarkedContentID(object)
        const heading = structure.headings.get(content)
        if (heading !== undefined) font = { ...font, heading }
        const own = structure.parts.get(content)
        if (own !== undefined) font = { ...font, part: own }
      }
      if (object !== 0) fonts.set(object, font)
    }
    pdfium.FPDFText_GetMatrix(text, index, scratch)
    const at = scratch >> 2
    const heap = memoryOf(pdfium).HEAPF32
    const [a, b, c, d] = [heap[at]!, heap[at + 1]!, heap[at + 2]!, heap[at + 3]!]
    const quarter = Math.round(Math.atan2(b, a) / (Math.PI / 2)) - rotation
    const size = pdfium.FPDFText_GetFontSize(text, index) * Math.hypot(c, d)
    return {
      ...font,
      size: Number.isFinite(size) ? Math.min(size, Math.max(width, height)) : 0,
      turn: (((quarter % 4) + 4) % 4) as Turn
    }
  }

  let seen = 0
  let part: number | undefined
  /** Cells may follow each other without a blank. */
  const beginsPart = (index: number): boolean => {
    if (structure === undefined || structure.parts.size === 0) return false
    const object = pdfium.FPDFText_GetTextObject(text, index)
    if (object === seen) return false
    seen = object
    return structure.parts.get(pdfium.FPDFPageObj_GetMarkedContentID(object)) !== part
  }

  let visible = 0
  let unmapped = 0
  let small = 0
  let mapped = true
  let size = 0
  let turn: Turn = 0
  const count = pdfium.FPDFText_CountChars(text)
  for (let i = 0; i < count; i++) {
    const code = pdfium.FPDFText_GetUnicode(text, i)
    if (code === 10 || code === 13) runs.lineEnd()
    else if (code === 32 || code === 9 || code === 0xa0) runs.blank()
    else if (code !== 0 && pdfium.FPDFText_GetLooseCharBox(text, i, scratch)) {
      const at = scratch >> 2
      const heap = memoryOf(pdfium).HEAPF32
      // left, top, right, bottom
      let box = mapBox(toShown, heap[at]!, heap[at + 3]!, heap[at + 2]!, heap[at + 1]!)
      if (!isNear(box, width, height)) continue
      const begins = runs.atWordStart || beginsPart(i)
      let look = begins ? lookAt(i) : undefined
      if (begins) part = look?.part
      if (begins) mapped = pdfium.FPDFText_HasUnicodeMapError(text, i) !== 1
      visible++
      if (!mapped) {
        unmapped++
        if (code >= 97 && code <= 122) small++
      }
      const tall = box[3] - box[1]
      // Fonts that are drawings have sizes of their own: then the box says more
      if (
        look !== undefined &&
        look.turn % 2 === 0 &&
        tall > 0 &&
        (look.size < tall / 3 || look.size > tall * 3)
      ) {
        look = { ...look, size: tall / 1.1 }
      }
      size = look?.size ?? size
      // Fonts of symbols claim room far below and above the line
      if (
        tall > 1.35 * size &&
        size > 0 &&
        (look?.turn ?? turn) === 0 &&
        pdfium.FPDFText_GetCharOrigin(text, i, scratch, scratch + 8)
      ) {
        const doubles = memoryOf(pdfium).HEAPF64
        const [x, y] = [doubles[scratch >> 3]!, doubles[(scratch >> 3) + 1]!]
        const base = toShown[1] * x + toShown[3] * y + toShown[5]
        box = [box[0], Math.max(box[1], base - 0.9 * size), box[2], Math.min(box[3], base + 0.25 * size)]
      }
      turn = look?.turn ?? turn
      if (box[2] - box[0] > width || tall > height) {
        const [x0, y0, x1, y1] = box
        box = [Math.max(x0, -width), Math.max(y0, -height), Math.min(x1, width), Math.min(y1, height)]
      }
      // PDFium marks a hyphen at a line's end with 2
      const character =
        code === 2 ? "-" : code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code)
      runs.character(character, box, look)
    }
  }
  const unreadable = unmapped >= ENOUGH && unmapped > visible / 2 && small < SMALL_LETTERS * unmapped
  return { runs: runs.finish(), unreadable }
}
