/** The formats of documents: what a format of your own implements, what it returns, and pages and figures as images. */
export { Chunker, type DocumentChunker } from "./chunking/CustomChunker.ts"
export {
  Block,
  Figure,
  type LinkedPicture,
  type Line,
  Page,
  type Parsed,
  PassageSpan,
  ReadFault,
  Span
} from "./document/Document.ts"
export { joinInPortions } from "./document/Portions.ts"
export { DocumentFormats, documentFormats, formatOf } from "./formats/DocumentFormats.ts"
export {
  type DocumentFile,
  type DocumentFormat,
  MAX_FILE_BYTES,
  parseError
} from "./formats/parsing/DocumentFormat.ts"
export { isHidden } from "./formats/parsing/FileName.ts"
export { declaredCharset, decodeText } from "./formats/parsing/TextDecoding.ts"
export { TRACE_COLOURS } from "./formats/pdf/figures/FigureTrace.ts"
export { drawFigureTraces, renderPage } from "./formats/pdf/Pdf.ts"
