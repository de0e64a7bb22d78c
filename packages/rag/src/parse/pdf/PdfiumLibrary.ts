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

let loading: Promise<Pdfium> | undefined

/** Compiles PDFium once for each thread (about 30 ms). */
export const loadPdfium = (): Promise<Pdfium> => {
  loading ??= (async () => {
    const file = readFileSync(createRequire(import.meta.url).resolve("@embedpdf/pdfium/pdfium.wasm"))
    const wasmBinary = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer
    const pdfium = await init({ wasmBinary })
    pdfium.PDFiumExt_Init()
    return pdfium
  })()
  return loading
}

/** The memory that PDFium holds by now, in bytes; it never shrinks. */
export const heapBytes = async (): Promise<number> => memoryOf(await loadPdfium()).HEAPU8.byteLength
