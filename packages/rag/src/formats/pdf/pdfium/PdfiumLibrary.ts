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
  "FPDFPage_CountObjects",
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
  "FPDFText_GetUnicode",
  "FPDFText_HasUnicodeMapError"
] as const satisfies ReadonlyArray<keyof Pdfium>

/** Calls WebAssembly itself where the package's way, which looks each name up and converts each argument, costs more than the work. */
const withDirectCalls = (pdfium: Pdfium): Pdfium => {
  const exported = pdfium.pdfium.wasmExports as unknown as Pdfium
  return { ...pdfium, ...Object.fromEntries(DIRECT.map((name) => [name, exported[name]])) }
}

/** What one PDF may hold of PDFium's memory; a page that wants more breaks it, and is left out. */
const MEMORY = 640 * 1024 * 1024

type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What of WebAssembly is used here; Node's own types do not have it. */
const { WebAssembly: wasm } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly instantiate: (bytes: ArrayBuffer, imports: Imports) => Promise<{ readonly instance: object }>
  }
}

/** Compiles PDFium, so that its memory stops growing at `MEMORY`. */
const instantiate =
  (bytes: ArrayBuffer) =>
  (imports: Imports, receive: (instance: object) => void): object => {
    const env = imports["env"]!
    const grow = env["emscripten_resize_heap"] as (size: number) => number
    const limited = (size: number): number => (size >>> 0 > MEMORY ? 0 : grow(size))
    void wasm
      .instantiate(bytes, { ...imports, env: { ...env, emscripten_resize_heap: limited } })
      .then(({ instance }) => receive(instance))
    return {}
  }

let loading: Promise<Pdfium> | undefined

/** PDFium, once for each thread (about 30 ms). */
export const loadPdfium = (): Promise<Pdfium> => {
  loading ??= (async () => {
    const file = readFileSync(createRequire(import.meta.url).resolve("@embedpdf/pdfium/pdfium.wasm"))
    const wasmBinary = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer
    // What PDFium says when it breaks comes with what it throws
    const pdfium = await init({ instantiateWasm: instantiate(wasmBinary), printErr: () => {} } as Parameters<
      typeof init
    >[0])
    pdfium.PDFiumExt_Init()
    return withDirectCalls(pdfium)
  })()
  return loading
}

/** The memory that PDFium holds by now, in bytes; it never shrinks. */
export const heapBytes = async (): Promise<number> => memoryOf(await loadPdfium()).HEAPU8.byteLength
