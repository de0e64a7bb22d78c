/** What the program asks of a thread that reads PDFs, and what comes back. */
import type { Parsed } from "../../Document.ts"
import type { PdfFault } from "./Run.ts"

export type PdfTask =
  | { readonly kind: "parse"; readonly bytes: Uint8Array }
  /** `page` counts from 1. */
  | { readonly kind: "render"; readonly bytes: Uint8Array; readonly page: number; readonly dpi: number }

export type PdfResult = { readonly parsed: Parsed } | { readonly png: Uint8Array } | PdfFault

/** What the thread says after a task: how it went, and how much memory PDFium holds by now. */
export interface PdfAnswer {
  readonly result: PdfResult
  readonly heapBytes: number
}
