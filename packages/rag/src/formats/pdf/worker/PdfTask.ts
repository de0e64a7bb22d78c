/** The messages between the program and the threads that read PDFs. */
import type { Parsed } from "../../../document/Document.ts"
import type { FigureTrace } from "../figures/FigureTrace.ts"
import type { PdfFault } from "../page/Run.ts"
import type { RecognizedText } from "../figures/RecognizedText.ts"

/** How to read a file. */
export interface ParseOptions {
  /** Text that image understanding read on pages and pictures, from an earlier result. */
  readonly recognized: ReadonlyArray<RecognizedText>
  /** Pages that crashed a thread before, and are left out; from 1. */
  readonly skip: ReadonlyArray<number>
  /** Pages that crashed a thread while they were drawn: their figures get no crops. */
  readonly undrawn: ReadonlyArray<number>
}

export type PdfTask =
  | ({ readonly kind: "parse"; readonly bytes: Uint8Array } & ParseOptions)
  /** Draws the results of the figure finder over each page that has a caption or a figure. */
  | { readonly kind: "trace"; readonly bytes: Uint8Array; readonly dpi: number }
  /** `page` counts from 1. */
  | { readonly kind: "render"; readonly bytes: Uint8Array; readonly page: number; readonly dpi: number }

/** A parsed file, and its images of text. */
export interface PdfParsed {
  readonly parsed: Parsed
  /** Numbers of pages without readable text, to be read as images. */
  readonly scans: ReadonlyArray<number>
  /** Those of `scans` whose fonts do not map glyphs to characters. */
  readonly unreadable: ReadonlyArray<number>
  /** Indices in `parsed.figures` of pictures without text. */
  readonly pictures: ReadonlyArray<number>
}

/** PDFium crashed or took too long. */
interface PdfStop {
  /** The page, from 1; 0 before the first one. */
  readonly stopped: number
  readonly why: string
  /** Whether the page was being drawn: its text can be read. */
  readonly drawing?: boolean | undefined
}

/** A page with the results of the figure finder drawn over it. */
export interface DrawnTrace {
  readonly trace: FigureTrace
  readonly png: Uint8Array
}

export type PdfResult =
  | PdfParsed
  | { readonly png: Uint8Array }
  | { readonly traces: ReadonlyArray<DrawnTrace> }
  | PdfFault
  | PdfStop

/** Reported before each page is read or drawn, so that the program knows where a thread hangs. Page 0 is the whole file. */
export interface PdfStep {
  readonly page: number
  readonly drawing?: boolean
}
