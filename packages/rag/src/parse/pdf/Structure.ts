/** What a tagged PDF says about its pages itself: which text is a heading, and what stands for a picture. */
import { memoryOf, type Pdfium } from "./PdfiumLibrary.ts"

/** Elements of one page that are looked at, and how deep. */
const ELEMENTS = 20_000
const DEPTH = 100
/** Bytes of an element's text that are read: 16,000 characters. */
const TEXT = 32_000

/** Of one page, by the numbers that its marked content has. */
export interface Structure {
  /** Levels of headings, 1 to 6. */
  readonly headings: ReadonlyMap<number, number>
  /** What stands for the figures, as the document says it. */
  readonly alternatives: ReadonlyMap<number, string>
}

type Read = (element: number, buffer: number, length: number) => number

/** The structure of a loaded page; undefined where it has none, or none that says something of headings or pictures. */
export const readStructure = (pdfium: Pdfium, page: number): Structure | undefined => {
  const tree = pdfium.FPDF_StructTree_GetForPage(page)
  if (tree === 0) return undefined
  const { free, malloc } = pdfium.pdfium.wasmExports
  const buffer = malloc(TEXT)
  const headings = new Map<number, number>()
  const alternatives = new Map<number, string>()
  let left = ELEMENTS

  /** UTF-16 with a zero at its end. */
  const textOf = (read: Read, element: number): string => {
    const length = read(element, buffer, TEXT)
    if (length <= 2 || length > TEXT) return ""
    return Buffer.from(memoryOf(pdfium).HEAPU8.subarray(buffer, buffer + length - 2)).toString("utf16le")
  }

  const walk = (element: number, level: number | undefined, alternative: string, depth: number): void => {
    if (element === 0 || depth > DEPTH || left-- <= 0) return
    const type = textOf(pdfium.FPDF_StructElement_GetType, element)
    const own = /^H([1-6])$/.exec(type)
    const heading = own === null ? level : Number(own[1])
    const said =
      type === "Figure"
        ? textOf(pdfium.FPDF_StructElement_GetAltText, element).replace(/\s+/g, " ").trim() || alternative
        : alternative
    const children = pdfium.FPDF_StructElement_CountChildren(element)
    for (let i = 0; i < children && left > 0; i++) {
      const content = pdfium.FPDF_StructElement_GetChildMarkedContentID(element, i)
      if (content < 0) walk(pdfium.FPDF_StructElement_GetChildAtIndex(element, i), heading, said, depth + 1)
      else {
        left--
        if (heading !== undefined) headings.set(content, heading)
        if (said !== "") alternatives.set(content, said)
      }
    }
  }

  try {
    const roots = pdfium.FPDF_StructTree_CountChildren(tree)
    for (let i = 0; i < roots; i++) walk(pdfium.FPDF_StructTree_GetChildAtIndex(tree, i), undefined, "", 0)
  } finally {
    free(buffer)
    pdfium.FPDF_StructTree_Close(tree)
  }
  return headings.size + alternatives.size === 0 ? undefined : { headings, alternatives }
}
