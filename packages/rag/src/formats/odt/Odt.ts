/** Parses OpenDocument texts. */
import { Effect } from "effect"
import { openOffice, pictureOf, sniffOffice } from "../container/OfficeFile.ts"
import { BlockWriter } from "../parsing/BlockWriter.ts"
import { withFigures } from "../parsing/Captions.ts"
import type { DocumentFormat } from "../parsing/DocumentFormat.ts"
import { topHeading } from "../parsing/DraftBlock.ts"
import { malformed, readWithFaults } from "../parsing/FormatFault.ts"
import { loadPictures } from "../parsing/Pictures.ts"
import { readOpenDocument } from "./OpenDocumentBody.ts"
import { openDocumentTitle } from "./OpenDocumentTitle.ts"

const readOdt = async (bytes: Uint8Array) => {
  const from = await openOffice(bytes, "this is an old Office file. Save it as .odt or .docx.")
  if (!from.has("content.xml")) {
    throw malformed("this is no OpenDocument text. Save it as .odt, or correct the file's ending.")
  }
  const out = new BlockWriter()
  await readOpenDocument(from, out)
  const { blocks, text } = out.finish()
  const title = (await openDocumentTitle(from)) || topHeading(blocks)
  return { from, read: withFigures({ format: "odt", title, text: text.toWellFormed() }, blocks) }
}

/**
 * Headings, lists, tables, captions, pictures, notes and text boxes of an OpenDocument text. Deleted text, comments and
 * indexes are left out.
 */
export const odtFormat: DocumentFormat = {
  id: "odt",
  label: "OpenDocument",
  extensions: ["odt"],
  mediaTypes: ["application/vnd.oasis.opendocument.text"],
  sniff: sniffOffice,
  parse: Effect.fnUntraced(function* ({ bytes, path }) {
    const { from, read } = yield* readWithFaults(path, () => readOdt(bytes))
    return yield* loadPictures(read, (reference) => pictureOf(from, reference))
  }),
  inflates: true,
  storesParsed: true
}
