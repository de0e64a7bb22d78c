/** What the program asks of a thread that reads PDFs, and what comes back. */
import type { Parsed } from "../../Document.ts"
import type { PdfFault } from "./Run.ts"
import type { SeenOnPage } from "./Seen.ts"

export type PdfTask =
  /** `seen` is what image understanding read on pages that are pictures, from an earlier answer. */
  | { readonly kind: "parse"; readonly bytes: Uint8Array; readonly seen: ReadonlyArray<SeenOnPage> }
  /** `page` counts from 1. */
  | { readonly kind: "render"; readonly bytes: Uint8Array; readonly page: number; readonly dpi: number }

/** A file as it was read, and what of it is pictures without text: numbers of pages, indices of `parsed.figures`. */
export interface PdfParsed {
  readonly parsed: Parsed
  readonly scans: ReadonlyArray<number>
  readonly pictures: ReadonlyArray<number>
}

export type PdfResult = PdfParsed | { readonly png: Uint8Array } | PdfFault

/** What the thread says after a task: how it went, and how much memory PDFium holds by now. */
export interface PdfAnswer {
  readonly result: PdfResult
  readonly heapBytes: number
}
