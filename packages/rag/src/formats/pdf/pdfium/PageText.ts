/** Reads the text of a page: characters with their boxes, as runs. */
import type { Box } from "../../../document/Document.ts"
import { type LoadedPage, mapBox } from "./PageTransform.ts"
import { memoryOf, SCRATCH_BYTES } from "./PdfiumLibrary.ts"
import type { Turn } from "../page/Run.ts"
import type { Structure } from "./Structure.ts"
import { type TextStyle, RunBuilder } from "./RunBuilder.ts"

const BOLD = /bold|black|heavy|semibold|demi|medi\b|-bd|cmbx/i
const MONO = /mono|courier|consol|typewriter|menlo|cmtt|code/i

/** Least unmapped characters by which a page is called unreadable. */
const MIN_UNMAPPED = 8
/** Share of lower-case Latin letters. Fonts that number their glyphs give fewer; old fonts without a map give the letters. */
const LOWER_CASE_SHARE = 0.4

type FontStyle = Omit<TextStyle, "size" | "turn">

/** Reads the characters of one page, and the style at the start of each word. */
class TextReader {
  readonly #page: LoadedPage
  readonly #text: number
  readonly #structure: Structure | undefined
  readonly #rotation: number
  readonly #fonts = new Map<number, FontStyle>()
  readonly runs: RunBuilder
  #style: TextStyle | undefined
  #object = 0
  #size = 0
  #isMapped = true
  #characters = 0
  #unmapped = 0
  #lowerCase = 0

  constructor(page: LoadedPage, text: number, structure: Structure | undefined) {
    this.#page = page
    this.#text = text
    this.#structure = structure
    this.#rotation = page.pdfium.FPDFPage_GetRotation(page.handle)
    this.runs = new RunBuilder(page.width, page.height)
  }

  get isUnreadable(): boolean {
    const unmapped = this.#unmapped
    return (
      unmapped >= MIN_UNMAPPED &&
      unmapped > this.#characters / 2 &&
      this.#lowerCase < LOWER_CASE_SHARE * unmapped
    )
  }

  #fontName(index: number): string {
    const { pdfium, scratch } = this.#page
    const room = SCRATCH_BYTES - 8
    const length = pdfium.FPDFText_GetFontInfo(this.#text, index, scratch, room, scratch + room)
    if (length <= 1) return ""
    return Buffer.from(
      memoryOf(pdfium).HEAPU8.subarray(scratch, scratch + Math.min(length, room) - 1)
    ).toString()
  }

  #fontOf(index: number): FontStyle {
    const { pdfium } = this.#page
    const object = pdfium.FPDFText_GetTextObject(this.#text, index)
    const known = this.#fonts.get(object)
    if (known !== undefined) return known
    const name = this.#fontName(index)
    const content = this.#structure && pdfium.FPDFPageObj_GetMarkedContentID(object)
    const heading = content === undefined ? undefined : this.#structure?.headings.get(content)
    const part = content === undefined ? undefined : this.#structure?.parts.get(content)
    const font = {
      font: name,
      bold: BOLD.test(name) || pdfium.FPDFText_GetFontWeight(this.#text, index) >= 650,
      mono: MONO.test(name),
      ...(heading === undefined ? {} : { heading }),
      ...(part === undefined ? {} : { part })
    }
    if (object !== 0) this.#fonts.set(object, font)
    return font
  }

  /** `height` is that of the character's box. */
  #styleOf(index: number, height: number): TextStyle {
    const { pdfium, scratch } = this.#page
    const font = this.#fontOf(index)
    pdfium.FPDFText_GetMatrix(this.#text, index, scratch)
    const at = scratch >> 2
    const [a = 1, b = 0, c = 0, d = 1] = memoryOf(pdfium).HEAPF32.subarray(at, at + 4)
    const quarters = Math.round(Math.atan2(b, a) / (Math.PI / 2)) - this.#rotation
    const turn = (((quarters % 4) + 4) % 4) as Turn
    const stated = pdfium.FPDFText_GetFontSize(this.#text, index) * Math.hypot(c, d)
    const size = Number.isFinite(stated) ? Math.min(stated, Math.max(this.#page.width, this.#page.height)) : 0
    // The stated size of fonts made of drawings is arbitrary: use the box
    const isArbitrary = turn % 2 === 0 && height > 0 && (size < height / 3 || size > height * 3)
    return { ...font, size: isArbitrary ? height / 1.1 : size, turn }
  }

  /** Whether a cell of a tagged table begins: cells may follow each other without a space. */
  #startsPart(index: number): boolean {
    if (this.#structure === undefined || this.#structure.parts.size === 0) return false
    const { pdfium } = this.#page
    const object = pdfium.FPDFText_GetTextObject(this.#text, index)
    if (object === this.#object) return false
    this.#object = object
    return this.#structure.parts.get(pdfium.FPDFPageObj_GetMarkedContentID(object)) !== this.#style?.part
  }

  /** Symbol fonts claim space far above and below the line: limits a box to the size around the baseline. */
  #aroundBaseline(index: number, box: Box): Box {
    const { pdfium, scratch, toShown } = this.#page
    if (!pdfium.FPDFText_GetCharOrigin(this.#text, index, scratch, scratch + 8)) return box
    const doubles = memoryOf(pdfium).HEAPF64
    const baseline =
      toShown[1] * doubles[scratch >> 3]! + toShown[3] * doubles[(scratch >> 3) + 1]! + toShown[5]
    return [
      box[0],
      Math.max(box[1], baseline - 0.9 * this.#size),
      box[2],
      Math.min(box[3], baseline + 0.25 * this.#size)
    ]
  }

  /** Adds the visible character at `index`. */
  add(index: number, code: number): void {
    const { height, pdfium, scratch, toShown, width } = this.#page
    if (!pdfium.FPDFText_GetLooseCharBox(this.#text, index, scratch)) return
    const at = scratch >> 2
    const heap = memoryOf(pdfium).HEAPF32
    // PDFium's order is left, top, right, bottom
    let box = mapBox(toShown, heap[at]!, heap[at + 3]!, heap[at + 2]!, heap[at + 1]!)
    // Damaged numbers put characters 10⁹ points away, or at NaN
    if (!(box[2] >= -width && box[0] <= 2 * width && box[3] >= -height && box[1] <= 2 * height)) return
    const tall = box[3] - box[1]
    const starts = this.runs.atWordStart || this.#startsPart(index)
    const style = starts ? this.#styleOf(index, tall) : undefined
    if (style !== undefined) {
      this.#isMapped = pdfium.FPDFText_HasUnicodeMapError(this.#text, index) !== 1
      this.#size = style.size
      this.#style = style
    }
    this.#characters++
    if (!this.#isMapped) {
      this.#unmapped++
      if (code >= 97 && code <= 122) this.#lowerCase++
    }
    const upright = (this.#style?.turn ?? 0) === 0
    if (upright && this.#size > 0 && tall > 1.35 * this.#size) box = this.#aroundBaseline(index, box)
    if (box[2] - box[0] > width || tall > height) {
      const [x0, y0, x1, y1] = box
      box = [Math.max(x0, -width), Math.max(y0, -height), Math.min(x1, width), Math.min(y1, height)]
    }
    // PDFium marks a hyphen at a line's end with 2
    const character =
      code === 2 ? "-" : code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code)
    this.runs.character(character, box, style)
  }
}

/**
 * The runs of a page's text, in the order of the file. `text` is PDFium's handle of it; `structure` gives headings, and parts of
 * tables and figures. `unreadable`: the fonts do not map most glyphs to characters, so that the text is meaningless.
 */
export const readText = (page: LoadedPage, text: number, structure?: Structure) => {
  const reader = new TextReader(page, text, structure)
  const count = page.pdfium.FPDFText_CountChars(text)
  for (let i = 0; i < count; i++) {
    const code = page.pdfium.FPDFText_GetUnicode(text, i)
    if (code === 10 || code === 13) reader.runs.lineEnd()
    else if (code === 32 || code === 9 || code === 0xa0) reader.runs.blank()
    else if (code !== 0) reader.add(i, code)
  }
  return { runs: reader.runs.finish(), unreadable: reader.isUnreadable }
}
