/** PDFium, the only place that imports it. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { init } from "@embedpdf/pdfium"

export type Pdfium = Awaited<ReturnType<typeof init>>

/** Emscripten's views of PDFium's memory, typed here because its own types are not installed. They change as it grows. */
interface Memory {
  readonly HEAPU8: Uint8Array
  readonly HEAP32: Int32Array
  readonly HEAPF32: Float32Array
  readonly HEAPF64: Float64Array
}
export const memoryOf = (pdfium: Pdfium): Memory => pdfium.pdfium as unknown as Memory

/** What is asked for each character, path and object of a page: numbers in, numbers out. */
const DIRECT = [
  "FPDFClipPath_CountPathSegments",
  "FPDFClipPath_CountPaths",
  "FPDFClipPath_GetPathSegment",
  "FPDFFormObj_CountObjects",
  "FPDFFormObj_GetObject",
  "FPDFPageObj_GetBounds",
  "FPDFPageObj_GetClipPath",
  "FPDFPageObj_GetFillColor",
  "FPDFPageObj_GetMatrix",
  "FPDFPageObj_GetStrokeColor",
  "FPDFPageObj_GetType",
  "FPDFPage_GetObject",
  "FPDFPathSegment_GetPoint",
  "FPDFPath_CountSegments",
  "FPDFPath_GetDrawMode",
  "FPDFPath_GetPathSegment",
  "FPDFText_GetCharOrigin",
  "FPDFText_GetFontInfo",
  "FPDFText_GetFontSize",
  "FPDFText_GetFontWeight",
  "FPDFText_GetLooseCharBox",
  "FPDFText_GetMatrix",
  "FPDFText_GetTextObject",
  "FPDFText_GetUnicode"
] as const satisfies ReadonlyArray<keyof Pdfium>

/** Calls WebAssembly itself where the package's way, which looks each name up and converts each argument, costs more than the work. */
const withDirectCalls = (pdfium: Pdfium): Pdfium => {
  const wasm = pdfium.pdfium.wasmExports as unknown as Pdfium
  return { ...pdfium, ...Object.fromEntries(DIRECT.map((name) => [name, wasm[name]])) }
}

let loading: Promise<Pdfium> | undefined

/** Compiles PDFium once for each thread (about 30 ms). */
export const loadPdfium = (): Promise<Pdfium> => {
  loading ??= (async () => {
    const file = readFileSync(createRequire(import.meta.url).resolve("@embedpdf/pdfium/pdfium.wasm"))
    const wasmBinary = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer
    const pdfium = await init({ wasmBinary })
    pdfium.PDFiumExt_Init()
    return withDirectCalls(pdfium)
  })()
  return loading
}

/** The memory that PDFium holds by now, in bytes; it never shrinks. */
export const heapBytes = async (): Promise<number> => memoryOf(await loadPdfium()).HEAPU8.byteLength
