/** Loads PDFium. The only file that imports it. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { init } from "@embedpdf/pdfium"

export type Pdfium = Awaited<ReturnType<typeof init>>

/** Bytes of scratch memory for results that PDFium writes. */
export const SCRATCH_BYTES = 1024

/** Emscripten's views of PDFium's memory, typed here because its own types are not installed. They are replaced when the memory grows. */
interface Memory {
  readonly HEAPU8: Uint8Array
  readonly HEAP32: Int32Array
  readonly HEAPF32: Float32Array
  readonly HEAPF64: Float64Array
}
export const memoryOf = (pdfium: Pdfium): Memory => pdfium.pdfium as unknown as Memory

/** Functions called for each character, path and object of a page. They take and return numbers. */
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

/** Calls WebAssembly without the package's wrapper, whose look-up and conversion cost more than these functions. */
const withDirectCalls = (pdfium: Pdfium): Pdfium => {
  const exported = pdfium.pdfium.wasmExports as unknown as Pdfium
  return { ...pdfium, ...Object.fromEntries(DIRECT.map((name) => [name, exported[name]])) }
}

/** Most memory of PDFium for one PDF. A page that needs more crashes it, and is left out. */
const MAX_MEMORY_MIB = 640

/** Whether more memory was refused. PDFium then aborts, and its thread ends. */
let isExceeded = false

/** Why PDFium crashed. */
export const crashReason = (cause: unknown): string => {
  if (isExceeded) return `took more than ${MAX_MEMORY_MIB} MiB of memory`
  return cause instanceof Error ? cause.message : String(cause)
}

type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Node's types do not include WebAssembly. */
const { WebAssembly: wasm } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly instantiate: (bytes: ArrayBuffer, imports: Imports) => Promise<{ readonly instance: object }>
  }
}

/** Compiles PDFium with a memory that stops growing at `MAX_MEMORY_MIB`. */
const instantiate =
  (bytes: ArrayBuffer) =>
  (imports: Imports, receive: (instance: object) => void): object => {
    const env = imports["env"]!
    const grow = env["emscripten_resize_heap"] as (size: number) => number
    const limited = (size: number): number => {
      isExceeded ||= size >>> 0 > MAX_MEMORY_MIB * 1048576
      return isExceeded ? 0 : grow(size)
    }
    void wasm
      .instantiate(bytes, { ...imports, env: { ...env, emscripten_resize_heap: limited } })
      .then(({ instance }) => receive(instance))
    return {}
  }

let loading: Promise<Pdfium> | undefined

/** Loads PDFium once in each thread, in about 30 ms. */
export const loadPdfium = (): Promise<Pdfium> => {
  loading ??= (async () => {
    const file = readFileSync(createRequire(import.meta.url).resolve("@embedpdf/pdfium/pdfium.wasm"))
    const wasmBinary = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer
    // The exception that it throws in a crash has the message, too
    const pdfium = await init({ instantiateWasm: instantiate(wasmBinary), printErr: () => {} } as Parameters<
      typeof init
    >[0])
    pdfium.PDFiumExt_Init()
    return withDirectCalls(pdfium)
  })()
  return loading
}

/** Bytes of PDFium's memory. It never shrinks. */
export const heapBytes = async (): Promise<number> => memoryOf(await loadPdfium()).HEAPU8.byteLength
