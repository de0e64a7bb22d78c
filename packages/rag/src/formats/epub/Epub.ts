/** Parses e-books: the chapters of an EPUB in their order of reading. */
import { posix } from "node:path"
import { officeFormat } from "../container/OfficeFile.ts"
import { findAll, readTree, type XmlElement } from "../container/Xml.ts"
import { ZipContainer } from "../container/ZipContainer.ts"
import { parseHtml } from "../html/Html.ts"
import { topHeading } from "../parsing/DraftBlock.ts"
import { malformed, passwordProtected } from "../parsing/FormatFault.ts"
import { type DocumentPart, joinDocuments } from "../parsing/JoinDocuments.ts"

/** Bytes of one chapter: a whole book in one file has 2 MiB. */
const MAX_CHAPTER_BYTES = 32 * 1024 * 1024

const FONTS = /idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc/

/** The name of a part that another refers to: relative to it, with escapes. */
const resolve = (from: string, reference: string): string => {
  const path = reference.replace(/[?#].*$/s, "")
  try {
    return posix.normalize(posix.join(posix.dirname(from), decodeURIComponent(path)))
  } catch {
    return posix.normalize(posix.join(posix.dirname(from), path))
  }
}

/** Elements by their name without a prefix. */
const elements = (within: XmlElement, name: string): ReadonlyArray<XmlElement> =>
  findAll(within, [name, `opf:${name}`, `ncx:${name}`])

/** Whether text is encrypted. Fonts may be obfuscated. */
const isProtected = async (from: ZipContainer): Promise<boolean> => {
  const encryption = await readTree(from.read("META-INF/encryption.xml"))
  return findAll(encryption, ["EncryptedData", "enc:EncryptedData"]).some((data) =>
    findAll(data, ["EncryptionMethod", "enc:EncryptionMethod"]).every(
      ({ attributes }) => !FONTS.test(attributes["Algorithm"] ?? "")
    )
  )
}

/** The titles of chapters by part, from the table of contents. The first of a part counts. */
const readContents = async (
  from: ZipContainer,
  items: ReadonlyArray<XmlElement>,
  base: string
): Promise<ReadonlyMap<string, string>> => {
  const titles = new Map<string, string>()
  const add = (part: string, reference: string | undefined, title: string): void => {
    const key = resolve(part, reference ?? "").toLowerCase()
    const text = title.replace(/\s+/g, " ").trim()
    if (reference !== undefined && text !== "" && !titles.has(key)) titles.set(key, text)
  }
  const nav = items.find(({ attributes }) => /\bnav\b/.test(attributes["properties"] ?? ""))
  const ncx = items.find(({ attributes }) => attributes["media-type"] === "application/x-dtbncx+xml")
  const part = resolve(base, (nav ?? ncx)?.attributes["href"] ?? "")
  const tree = await readTree(from.read(part))
  for (const link of findAll(tree, ["a"])) {
    const words = [link.text, ...findAll(link, ["span", "em", "i", "b"]).map(({ text }) => text)]
    add(part, link.attributes["href"], words.join(" "))
  }
  const waiting = elements(tree, "navPoint").toReversed()
  for (let point = waiting.pop(); point !== undefined; point = waiting.pop()) {
    const [label] = findAll(point, ["text", "ncx:text"])
    add(part, elements(point, "content")[0]?.attributes["src"], label?.text ?? "")
    for (const child of point.children.toReversed())
      if (/(?:^|:)navPoint$/.test(child.name)) waiting.push(child)
  }
  return titles
}

const readEpub = async (bytes: Uint8Array) => {
  const from = await ZipContainer.open(bytes)
  const container = await readTree(from.read("META-INF/container.xml"))
  const [root] = findAll(container, ["rootfile"])
  const base = root?.attributes["full-path"] ?? ""
  if (!from.has(base)) throw malformed("this is no EPUB: it names no book. Download it again.")
  if (await isProtected(from)) throw passwordProtected()
  const book = await readTree(from.read(base))
  const items = elements(book, "item")
  const byId = new Map(items.map((item) => [item.attributes["id"], item]))
  const titles = await readContents(from, items, base)
  const [named] = findAll(book, ["dc:title"])
  const name = named?.text.replace(/\s+/g, " ").trim() ?? ""
  const parts: Array<DocumentPart> = []
  let chapters = 0
  for (const { attributes } of elements(book, "itemref")) {
    const item = byId.get(attributes["idref"])
    const part = resolve(base, item?.attributes["href"] ?? "")
    const isContents = /\bnav\b/.test(item?.attributes["properties"] ?? "")
    const content = isContents ? undefined : await from.bytes(part, MAX_CHAPTER_BYTES)
    if (content === undefined) continue
    const draft = parseHtml(new TextDecoder().decode(content))
    if (draft.blocks.length === 0) continue
    const pictures = draft.pictures.map(({ figure, reference }) => ({
      figure,
      reference: /^data:/i.test(reference) ? reference : resolve(part, reference)
    }))
    const heading = draft.blocks.find(({ kind }) => kind === "heading")?.heading
    const title = heading ?? titles.get(part.toLowerCase())
    // A chapter may have several files, and a book a page with its title
    if (title !== undefined && title !== name) chapters++
    parts.push({
      label: chapters === 0 ? "front matter" : `chapter ${chapters}`,
      ...(heading !== undefined || title === undefined ? {} : { heading: { level: 1, text: title } }),
      parsed: { ...draft, pictures }
    })
  }
  const read = joinDocuments({ format: "epub", title: name }, parts)
  return { from, draft: { ...read, title: read.title || topHeading(read.blocks) } }
}

/** The chapters of a book, with the headings of its table of contents where they have none. */
export const epubFormat = officeFormat(
  { id: "epub", label: "E-book", extensions: ["epub"], mediaTypes: ["application/epub+zip"] },
  readEpub
)
