/** What the program asks of a thread that reads PDFs, and what comes back. */
import type { Parsed } from "../../../document/Document.ts"
import type { FigureTrace } from "../figures/FigureTrace.ts"
import type { PdfFault } from "../page/Run.ts"
import type { RecognizedText } from "../figures/RecognizedText.ts"

export type PdfTask =
  | {
      readonly kind: "parse"
      readonly bytes: Uint8Array
      /** What image understanding read on pages that are pictures, from an earlier answer. */
      readonly seen: ReadonlyArray<RecognizedText>
      /** Pages that broke a thread before, and are left out; from 1. */
      readonly skip: ReadonlyArray<number>
      /** Pages that broke a thread when they were drawn: their figures get no crops. */
      readonly undrawn: ReadonlyArray<number>
    }
  /** Draws what the figure finder saw over each page that has a caption or a figure. */
  | { readonly kind: "trace"; readonly bytes: Uint8Array; readonly dpi: number }
  /** `page` counts from 1. */
  | { readonly kind: "render"; readonly bytes: Uint8Array; readonly page: number; readonly dpi: number }

/**
 * A file as it was read, and what of it is pictures without text: numbers of pages, indices of `parsed.figures`. Of the
 * pages, `unreadable` are those with text in fonts that do not tell its characters.
 */
export interface PdfParsed {
  readonly parsed: Parsed
  readonly scans: ReadonlyArray<number>
  readonly unreadable: ReadonlyArray<number>
  readonly pictures: ReadonlyArray<number>
}

/** PDFium broke, or went on for too long, at this page; 0 before the first one. */
export interface PdfStop {
  readonly stopped: number
  readonly why: string
  /** Whether the page was drawn, not read: its text is fine. */
  readonly drawing: boolean
}

/** A page with what the figure finder saw drawn over it. */
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

/** Said before each page is read or drawn, so that the program knows where a thread is held; 0 is the whole file. */
export interface PdfProgress {
  readonly page: number
  readonly drawing?: boolean
}

/** What the thread says after a task: how it went, and how much memory PDFium holds by now. */
export interface PdfAnswer {
  readonly result: PdfResult
  readonly heapBytes: number
}
