/** Parses Word documents. */
import { withFigures } from "../parsing/Captions.ts"
import { topHeading } from "../parsing/DraftBlock.ts"
import { malformed } from "../parsing/FormatFault.ts"
import { bodyHandler } from "./DocxBody.ts"
import { readCharts } from "../container/Charts.ts"
import { readRelations, targetOf } from "../container/Relations.ts"
import { officeFormat, openOffice, readTitle } from "../container/OfficeFile.ts"
import { DocxText } from "./DocxText.ts"
import { readNotes } from "./Notes.ts"
import { Numbering } from "./Numbering.ts"
import { readStyles } from "./Styles.ts"
import { readXml } from "../container/Xml.ts"

/** Titles that programs fill in automatically. */
const NO_TITLE = /^(?:untitled|document\s*\d*|dokument\s*\d*|microsoft word\b.*|.*\.(?:docx?|dotx?))$/i

const readDocument = async (bytes: Uint8Array) => {
  const from = await openOffice(bytes, "this is an old Word file (.doc). Save it in Word as .docx.")
  const packageRelations = await readRelations(from, "")
  const main = targetOf(packageRelations, "officeDocument") ?? "word/document.xml"
  if (!from.has(main)) {
    throw malformed("this is no Word document. Save it in Word as .docx, or correct the file's ending.")
  }
  const relations = await readRelations(from, main)
  const part = (type: string) => from.read(targetOf(relations, type) ?? "")
  const { styles, defaultStyle } = await readStyles(part("styles"))
  const out = new DocxText(await Numbering.read(part("numbering")))
  const notes = new Map<string, string>()
  await readNotes(part("footnotes"), "footnote", notes)
  await readNotes(part("endnotes"), "endnote", notes)
  const charts = await readCharts(from, relations)
  await readXml(from.read(main), bodyHandler(out, { styles, defaultStyle, relations, notes, charts }))
  const { blocks, text } = out.finish()
  const property = await readTitle(from, targetOf(packageRelations, "core-properties"))
  const isTitle = !NO_TITLE.test(property) && /[\p{L}\p{N}]/u.test(property)
  const title = (isTitle && property) || out.title || topHeading(blocks)
  return { draft: withFigures({ format: "docx", title, text }, blocks), from }
}

/**
 * Reads a Word document (`.docx`, transitional or strict): headings by style and outline level, lists with their numbers,
 * tables with merged cells, captions, pictures, charts, notes, text boxes and formulas. Tracked insertions are read.
 * Deletions, tables of contents, comments, headers and footers are left out.
 *
 * Fails with `Malformed` (damaged, cut short, not a Word document), `Encrypted` or `TooLarge` (inflates past a limit).
 * External references are never opened.
 */
export const docxFormat = officeFormat(
  {
    id: "docx",
    label: "Word",
    extensions: ["docx"],
    mediaTypes: ["application/vnd.openxmlformats-officedocument.wordprocessingml.document"]
  },
  readDocument
)
