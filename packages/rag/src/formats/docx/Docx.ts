/** Parses Word documents. */
import { Effect } from "effect"
import { withFigures } from "../parsing/Captions.ts"
import type { DocumentFormat } from "../parsing/DocumentFormat.ts"
import { topHeading } from "../parsing/DraftBlock.ts"
import { malformed, readWithFaults } from "../parsing/FormatFault.ts"
import { loadPictures } from "../parsing/Pictures.ts"
import { bodyHandler } from "./DocxBody.ts"
import { readCharts } from "../container/Charts.ts"
import { readRelations, targetOf } from "../container/Relations.ts"
import { openOffice, pictureOf, sniffOffice } from "../container/OfficeFile.ts"
import type { ZipContainer } from "../container/ZipContainer.ts"
import { DocxText } from "./DocxText.ts"
import { readNotes } from "./Notes.ts"
import { Numbering } from "./Numbering.ts"
import { readStyles } from "./Styles.ts"
import { findAll, readTree, readXml } from "../container/Xml.ts"

/** Titles that programs fill in automatically. */
const NO_TITLE = /^(?:untitled|document\s*\d*|dokument\s*\d*|microsoft word\b.*|.*\.(?:docx?|dotx?))$/i

const readTitle = async (from: ZipContainer, part = ""): Promise<string> => {
  const [element] = findAll(await readTree(from.read(part)), ["dc:title"])
  const title = element?.text.replace(/\s+/g, " ").trim() ?? ""
  return NO_TITLE.test(title) || !/[\p{L}\p{N}]/u.test(title) ? "" : title
}

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
  const title = property || out.title || topHeading(blocks)
  return { read: withFigures({ format: "docx", title, text }, blocks), from }
}

/**
 * Reads a Word document (`.docx`, transitional or strict): headings by style and outline level, lists with their numbers,
 * tables with merged cells, captions, pictures, charts, notes, text boxes and formulas. Tracked insertions are read.
 * Deletions, tables of contents, comments, headers and footers are left out.
 *
 * Fails with `Malformed` (damaged, cut short, not a Word document), `Encrypted` or `TooLarge` (inflates past a limit).
 * External references are never opened.
 */
const parseDocx = Effect.fn("parseDocx")(function* (path: string, bytes: Uint8Array) {
  const { from, read } = yield* readWithFaults(path, () => readDocument(bytes))
  return yield* loadPictures(read, (reference) => pictureOf(from, reference))
})

export const docxFormat: DocumentFormat = {
  id: "docx",
  label: "Word",
  extensions: ["docx"],
  mediaTypes: ["application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  sniff: sniffOffice,
  parse: ({ bytes, path }) => parseDocx(path, bytes),
  storesParsed: true,
  inflates: true
}
