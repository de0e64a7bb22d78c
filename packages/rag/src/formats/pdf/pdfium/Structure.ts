/** What a tagged PDF says about its pages itself: which text is a heading, a cell or a caption, and what is a figure. */
import { memoryOf, type Pdfium } from "./PdfiumLibrary.ts"
import type { CellTag, FigureTag, TableTag, Tags } from "../page/Tags.ts"

/** Elements of one page that are looked at, and how deep. */
const ELEMENTS = 20_000
const DEPTH = 100
/** Bytes of an element's text that are read: 16,000 characters. */
const TEXT = 32_000
/** Columns and rows that a cell spans at most. */
const SPAN = 500

/** Of one page, by the numbers that its marked content has. */
export interface Structure extends Tags {
  /** Levels of headings, 1 to 6. */
  readonly headings: ReadonlyMap<number, number>
  /** Parts of tables and figures. */
  readonly parts: ReadonlyMap<number, number>
}

type LineDraft<A> = { -readonly [K in keyof A]: A[K] }
type TableDraft = LineDraft<TableTag> & { readonly rows: Array<Array<CellTag>> }

/** What an element stands in. */
interface Within {
  readonly heading?: number | undefined
  readonly part?: number | undefined
  readonly table?: TableDraft | undefined
  readonly row?: Array<CellTag> | undefined
  readonly figure?: number | undefined
}

type Read = (element: number, buffer: number, length: number) => number

/** Collects the headings, tables and figures of one page's structure tree. */
class StructureReader {
  readonly headings = new Map<number, number>()
  readonly parts = new Map<number, number>()
  readonly tables: Array<TableDraft> = []
  readonly figures: Array<LineDraft<FigureTag>> = []
  readonly #pdfium: Pdfium
  /** Address of `TEXT` bytes for texts and numbers. */
  readonly #buffer: number
  #left = ELEMENTS
  #next = 0

  constructor(pdfium: Pdfium, buffer: number) {
    this.#pdfium = pdfium
    this.#buffer = buffer
  }

  /** UTF-16 with a zero at its end. */
  #textOf(read: Read, element: number): string {
    const length = read(element, this.#buffer, TEXT)
    if (length <= 2 || length > TEXT) return ""
    return Buffer.from(
      memoryOf(this.#pdfium).HEAPU8.subarray(this.#buffer, this.#buffer + length - 2)
    ).toString("utf16le")
  }

  #spanOf(element: number, name: "ColSpan" | "RowSpan"): number {
    const count = this.#pdfium.FPDF_StructElement_GetAttributeCount(element)
    for (let i = 0; i < count && i < 8; i++) {
      const attributes = this.#pdfium.FPDF_StructElement_GetAttributeAtIndex(element, i)
      const value = attributes === 0 ? 0 : this.#pdfium.FPDF_StructElement_Attr_GetValue(attributes, name)
      if (value === 0 || !this.#pdfium.FPDF_StructElement_Attr_GetNumberValue(value, this.#buffer)) continue
      const span = memoryOf(this.#pdfium).HEAPF32[this.#buffer >> 2]!
      return span >= 1 ? Math.min(SPAN, Math.floor(span)) : 1
    }
    return 1
  }

  /** What the children of an element stand in. */
  #enter(element: number, type: string, within: Within): Within {
    const { figure, row, table } = within
    switch (type) {
      case "Table": {
        if (table !== undefined) table.arranges = true
        if (figure !== undefined) this.figures[figure]!.holdsTable = true
        const own: TableDraft = { caption: undefined, rows: [], arranges: false }
        this.tables.push(own)
        return { table: own }
      }
      case "TR": {
        if (table === undefined) return within
        const own: Array<CellTag> = []
        table.rows.push(own)
        return { ...within, row: own, part: undefined }
      }
      case "TH":
      case "TD": {
        if (row === undefined) return within
        const part = this.#next++
        row.push({ part, columns: this.#spanOf(element, "ColSpan"), rows: this.#spanOf(element, "RowSpan") })
        // What stands in a cell is no cell of its row
        return { ...within, row: undefined, part }
      }
      case "Caption": {
        if (table === undefined && figure === undefined) return within
        const part = this.#next++
        if (table !== undefined) table.caption ??= part
        else this.figures[figure!]!.caption ??= part
        return { part }
      }
      case "Figure": {
        const part = this.#next++
        const alternative = this.#textOf(this.#pdfium.FPDF_StructElement_GetAltText, element)
          .replace(/\s+/g, " ")
          .trim()
        const own = this.figures.push({
          part,
          caption: undefined,
          alternative,
          outer: figure,
          holdsTable: false
        })
        return { ...within, part, figure: own - 1 }
      }
      default: {
        const level = /^H([1-6])$/.exec(type)
        if (level === null) return within
        if (table !== undefined) table.arranges = true
        return { ...within, heading: Number(level[1]) }
      }
    }
  }

  walk(element: number, around: Within, depth: number): void {
    if (element === 0 || depth > DEPTH || this.#left-- <= 0) return
    const within = this.#enter(
      element,
      this.#textOf(this.#pdfium.FPDF_StructElement_GetType, element),
      around
    )
    const children = this.#pdfium.FPDF_StructElement_CountChildren(element)
    for (let i = 0; i < children && this.#left > 0; i++) {
      const content = this.#pdfium.FPDF_StructElement_GetChildMarkedContentID(element, i)
      if (content >= 0) {
        this.#left--
        if (within.heading !== undefined) this.headings.set(content, within.heading)
        if (within.part !== undefined) this.parts.set(content, within.part)
        continue
      }
      const child = this.#pdfium.FPDF_StructElement_GetChildAtIndex(element, i)
      if (child !== 0) this.walk(child, within, depth + 1)
      // PDFium knows only elements with content on the page: here an empty cell stands
      else if (within.row !== undefined && this.#left-- > 0)
        within.row.push({ part: undefined, columns: 1, rows: 1 })
    }
  }
}

/** Reads the structure tree of a loaded page; undefined if there is none, or it tags no heading, table or figure. */
export const readStructure = (pdfium: Pdfium, page: number): Structure | undefined => {
  const tree = pdfium.FPDF_StructTree_GetForPage(page)
  if (tree === 0) return undefined
  const { free, malloc } = pdfium.pdfium.wasmExports
  const buffer = malloc(TEXT)
  const reader = new StructureReader(pdfium, buffer)
  try {
    const roots = pdfium.FPDF_StructTree_CountChildren(tree)
    for (let i = 0; i < roots; i++) reader.walk(pdfium.FPDF_StructTree_GetChildAtIndex(tree, i), {}, 0)
  } finally {
    free(buffer)
    pdfium.FPDF_StructTree_Close(tree)
  }
  const { figures, headings, parts, tables } = reader
  return headings.size + parts.size === 0 ? undefined : { headings, parts, tables, figures }
}
