/** Image understanding in this process, by OCR. An entry of its own: its packages are heavy, and optional. */
export type { ColourShare } from "./Colours.ts"
export { makeOcr, type Ocr } from "./Ocr.ts"
export type { OcrLine, Seen } from "./Seen.ts"
export { layerVision, visionModel } from "./Vision.ts"
