/** Image understanding in this process, by OCR. An entry of its own: its packages are heavy, and optional. */
export type { ColourShare } from "./Colours.ts"
export { makeOcr, type Ocr } from "./Ocr.ts"
export type { OcrLine } from "./OcrLine.ts"
export type { PictureContent } from "./PictureContent.ts"
export { layerVision, visionModel } from "./Vision.ts"
