/** Reads the structure tree of a tagged PDF: which text is a heading, a cell or a caption, and what is a figure. */
import { memoryOf, type Pdfium } from "./PdfiumLibrary.ts"
import type { CellTag, FigureTag, TableTag, Tags } from "../page/Run.ts"

/** Elements read of one page, and their depth. */
const MAX_ELEMENTS = 20_000
const MAX_DEPTH = 100
/** Bytes read of an element's text: 16,000 characters. */
const TEXT_BYTES = 32_000
/** Columns or rows that a cell may span. */
const MAX_SPAN = 500

/** The structure of one page, by the ids of its marked content. */
export interface Structure extends Tags {
  /** Levels of headings, 1 to 6. */
  readonly headings: ReadonlyMap<number, number>
  /** Parts of tables and figures. */
  readonly parts: ReadonlyMap<number, number>
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }
type TableDraft = Mutable<TableTag> & { readonly rows: Array<Array<CellTag>> }

/** The elements around an element. */
interface Ancestors {
  readonly heading?: number
  readonly part?: number | undefined
  readonly table?: TableDraft
  readonly row?: Array<CellTag> | undefined
  /** Index in `figures`. */
  readonly figure?: number
}

class StructureReader {
  readonly headings = new Map<number, number>()
  readonly parts = new Map<number, number>()
  readonly tables: Array<TableDraft> = []
  readonly figures: Array<Mutable<FigureTag>> = []
  readonly #pdfium: Pdfium
  /** Address of `TEXT_BYTES` for texts and numbers. */
  readonly #buffer: number
  #elementsLeft = MAX_ELEMENTS
  #nextPart = 0

  constructor(pdfium: Pdfium, buffer: number) {
    this.#pdfium = pdfium
    this.#buffer = buffer
  }

  /** PDFium writes UTF-16 with a zero at its end. */
  #textOf(read: (element: number, buffer: number, length: number) => number, element: number): string {
    const length = read(element, this.#buffer, TEXT_BYTES)
    if (length <= 2 || length > TEXT_BYTES) return ""
    const bytes = memoryOf(this.#pdfium).HEAPU8.subarray(this.#buffer, this.#buffer + length - 2)
    return Buffer.from(bytes).toString("utf16le")
  }

  #spanOf(element: number, name: "ColSpan" | "RowSpan"): number {
    const count = this.#pdfium.FPDF_StructElement_GetAttributeCount(element)
    for (let i = 0; i < count && i < 8; i++) {
      const attributes = this.#pdfium.FPDF_StructElement_GetAttributeAtIndex(element, i)
      const value = attributes === 0 ? 0 : this.#pdfium.FPDF_StructElement_Attr_GetValue(attributes, name)
      if (value === 0 || !this.#pdfium.FPDF_StructElement_Attr_GetNumberValue(value, this.#buffer)) continue
      const span = memoryOf(this.#pdfium).HEAPF32[this.#buffer >> 2]!
      return span >= 1 ? Math.min(MAX_SPAN, Math.floor(span)) : 1
    }
    return 1
  }

  /** Records an element, and returns the ancestors of its children. */
  #enter(element: number, type: string, within: Ancestors): Ancestors {
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
        const part = this.#nextPart++
        row.push({ part, columns: this.#spanOf(element, "ColSpan"), rows: this.#spanOf(element, "RowSpan") })
        // Cells within a cell do not belong to its row
        return { ...within, row: undefined, part }
      }
      case "Caption": {
        if (table === undefined && figure === undefined) return within
        const part = this.#nextPart++
        if (table !== undefined) table.caption ??= part
        else this.figures[figure!]!.caption ??= part
        return { part }
      }
      case "Figure": {
        const part = this.#nextPart++
        const text = this.#textOf(this.#pdfium.FPDF_StructElement_GetAltText, element)
        const alternative = text.replace(/\s+/g, " ").trim()
        const own = { part, caption: undefined, alternative, outer: figure, holdsTable: false }
        return { ...within, part, figure: this.figures.push(own) - 1 }
      }
      default: {
        const level = /^H([1-6])$/.exec(type)
        if (level === null) return within
        if (table !== undefined) table.arranges = true
        return { ...within, heading: Number(level[1]) }
      }
    }
  }

  walk(element: number, ancestors: Ancestors, depth: number): void {
    if (element === 0 || depth > MAX_DEPTH || this.#elementsLeft-- <= 0) return
    const type = this.#textOf(this.#pdfium.FPDF_StructElement_GetType, element)
    const within = this.#enter(element, type, ancestors)
    const children = this.#pdfium.FPDF_StructElement_CountChildren(element)
    for (let i = 0; i < children && this.#elementsLeft > 0; i++) {
      const content = this.#pdfium.FPDF_StructElement_GetChildMarkedContentID(element, i)
      if (content >= 0) {
        this.#elementsLeft--
        if (within.heading !== undefined) this.headings.set(content, within.heading)
        if (within.part !== undefined) this.parts.set(content, within.part)
        continue
      }
      const child = this.#pdfium.FPDF_StructElement_GetChildAtIndex(element, i)
      if (child !== 0) this.walk(child, within, depth + 1)
      // PDFium omits elements without content on the page: this is an empty cell
      else if (within.row !== undefined && this.#elementsLeft-- > 0)
        within.row.push({ part: undefined, columns: 1, rows: 1 })
    }
  }
}

/** Reads the structure tree of a loaded page; undefined if there is none, or it tags no heading, table or figure. */
export const readStructure = (pdfium: Pdfium, page: number): Structure | undefined => {
  const tree = pdfium.FPDF_StructTree_GetForPage(page)
  if (tree === 0) return undefined
  const { free, malloc } = pdfium.pdfium.wasmExports
  const buffer = malloc(TEXT_BYTES)
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
