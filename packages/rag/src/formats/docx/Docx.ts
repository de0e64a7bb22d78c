/** Parses Word documents. */
import { Effect } from "effect"
import { withFigures } from "../parsing/Captions.ts"
import { type DocumentFormat, hasSignature, parseError } from "../parsing/DocumentFormat.ts"
import { topHeading } from "../parsing/DraftBlock.ts"
import { loadPictures } from "../parsing/Pictures.ts"
import { bodyHandler } from "./DocxBody.ts"
import { DocxPackage, readRelations, type Relation } from "./DocxPackage.ts"
import { DocxText } from "./DocxText.ts"
import { readCharts, readNotes } from "./Notes.ts"
import { Numbering } from "./Numbering.ts"
import { readStyles } from "./Styles.ts"
import { DocxFault, findAll, malformed, passwordProtected, readTree, readXml } from "./Xml.ts"
import { MAX_IMAGE_BYTES } from "@sluice/core"

/** Titles that programs fill in automatically. */
const NO_TITLE = /^(?:untitled|document\s*\d*|dokument\s*\d*|microsoft word\b.*|.*\.(?:docx?|dotx?))$/i

/** Signature of the container of older Office formats. */
const OLD_OFFICE = "\xD0\xCF\x11\xE0"

/** Encrypted documents are in a container of the old format. */
const isEncrypted = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("EncryptedPackage", 0, "utf16le")

const targetOf = (relations: ReadonlyMap<string, Relation>, type: string): string | undefined =>
  [...relations.values()].find((relation) => relation.type === type && !relation.external)?.target

const readTitle = async (from: DocxPackage, part = ""): Promise<string> => {
  const [element] = findAll(await readTree(from.read(part)), ["dc:title"])
  const title = element?.text.replace(/\s+/g, " ").trim() ?? ""
  return NO_TITLE.test(title) || !/[\p{L}\p{N}]/u.test(title) ? "" : title
}

const readDocument = async (bytes: Uint8Array) => {
  if (hasSignature(bytes, OLD_OFFICE)) {
    if (isEncrypted(bytes)) throw passwordProtected()
    throw malformed("this is an old Word file (.doc). Save it in Word as .docx.")
  }
  const from = await DocxPackage.open(bytes)
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

/** The bytes of a picture, or the end of a sentence that says why it has none. */
const pictureOf = (from: DocxPackage, reference: string): Effect.Effect<Uint8Array | string | undefined> =>
  Effect.tryPromise(() => from.bytes(reference, MAX_IMAGE_BYTES)).pipe(
    Effect.map((bytes) => bytes ?? "is not in the document, or has more than 20 MB"),
    Effect.catch(({ cause }) =>
      Effect.succeed(cause instanceof DocxFault ? `is not read: ${cause.message}` : "is damaged")
    )
  )

/**
 * Reads a Word document (`.docx`, transitional or strict): headings by style and outline level, lists with their numbers,
 * tables with merged cells, captions, pictures, charts, notes, text boxes and formulas. Tracked insertions are read.
 * Deletions, tables of contents, comments, headers and footers are left out.
 *
 * Fails with `Malformed` (damaged, cut short, not a Word document), `Encrypted` or `TooLarge` (inflates past a limit).
 * External references are never opened.
 */
const parseDocx = Effect.fn("parseDocx")(function* (path: string, bytes: Uint8Array) {
  const { from, read } = yield* Effect.tryPromise({
    try: () => readDocument(bytes),
    catch: (cause) =>
      cause instanceof DocxFault
        ? parseError(path, cause.reason, cause.message, cause)
        : parseError(path, "Internal", "reading this document failed. Please report it.", cause)
  })
  return yield* loadPictures(read, (reference) => pictureOf(from, reference))
})

export const docxFormat: DocumentFormat = {
  id: "docx",
  label: "Word",
  extensions: ["docx"],
  mediaTypes: ["application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  sniff: (bytes) =>
    hasSignature(bytes, "PK\x03\x04")
      ? "a ZIP archive or an Office document"
      : hasSignature(bytes, OLD_OFFICE)
        ? "an old Office document"
        : undefined,
  parse: ({ bytes, path }) => parseDocx(path, bytes),
  storesParsed: true
}
