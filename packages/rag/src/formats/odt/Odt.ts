/** Parses OpenDocument texts. */
import { officeFormat, openOffice, readTitle } from "../container/OfficeFile.ts"
import { BlockWriter } from "../parsing/BlockWriter.ts"
import { withFigures } from "../parsing/Captions.ts"
import { topHeading } from "../parsing/DraftBlock.ts"
import { malformed } from "../parsing/FormatFault.ts"
import { readOpenDocument } from "./OpenDocumentBody.ts"

const readOdt = async (bytes: Uint8Array) => {
  const from = await openOffice(bytes, "this is an old Office file. Save it as .odt or .docx.")
  if (!from.has("content.xml")) {
    throw malformed("this is no OpenDocument text. Save it as .odt, or correct the file's ending.")
  }
  const out = new BlockWriter()
  await readOpenDocument(from, out)
  const { blocks, text } = out.finish()
  const title = (await readTitle(from, "meta.xml")) || topHeading(blocks)
  return { from, draft: withFigures({ format: "odt", title, text: text.toWellFormed() }, blocks) }
}

/**
 * Headings, lists, tables, captions, pictures, notes and text boxes of an OpenDocument text. Deleted text, comments and
 * indexes are left out.
 */
export const odtFormat = officeFormat(
  {
    id: "odt",
    label: "OpenDocument",
    extensions: ["odt"],
    mediaTypes: ["application/vnd.oasis.opendocument.text"]
  },
  readOdt
)
