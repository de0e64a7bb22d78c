/** Image understanding in this process, by OCR. A separate entry because its packages are large and optional. */
export type { ColourShare } from "./Colours.ts"
export { makeOcr, type Ocr } from "./Ocr.ts"
export type { OcrLine } from "./OcrLine.ts"
export type { PictureContent } from "./PictureContent.ts"
export { layerVision, visionModel } from "./Vision.ts"
