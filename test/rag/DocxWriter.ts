/** Writes Word documents from the XML of their body. */
import { crc32, deflateSync } from "node:zlib"
import { zip, type ZipPart } from "./ZipWriter.ts"

const W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
const R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const NAMESPACES = `xmlns:w="${W}" xmlns:r="${R}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"`
const RELS = "http://schemas.openxmlformats.org/package/2006/relationships"

const style = (id: string, name: string, inner = ""): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${inner}</w:style>`

/** Styles of Word, a German Word, WPS and LibreOffice. */
export const STYLES = [
  `<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>`,
  style("Heading1", "heading 1", `<w:pPr><w:outlineLvl w:val="0"/></w:pPr>`),
  style("berschrift2", "Überschrift 2"),
  style("3", "标题 3"),
  style("Mine", "My own", `<w:basedOn w:val="Heading1"/>`),
  style("Loop", "Loop", `<w:basedOn w:val="Pool"/>`),
  style("Pool", "Pool", `<w:basedOn w:val="Loop"/>`),
  style("Title", "Title"),
  style("Caption", "caption"),
  style("TOC1", "toc 1"),
  style("ListBullet", "List Bullet", `<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>`)
].join("")

const level = (at: number, format: string, text: string): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`

export const NUMBERING = `<w:abstractNum w:abstractNumId="0">${level(0, "decimal", "%1.")}${level(1, "lowerLetter", "%2)")}${level(2, "upperRoman", "%1.%3")}</w:abstractNum><w:abstractNum w:abstractNumId="1">${level(0, "bullet", "")}</w:abstractNum><w:abstractNum w:abstractNumId="2">${level(0, "chineseCounting", "第%1条")}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num><w:num w:numId="4"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>`

export interface DocxParts {
  readonly title?: string
  readonly footnotes?: string
  /** In addition to `STYLES`. */
  readonly styles?: string
  /** By relation id: the bytes of a picture, or an external address. */
  readonly pictures?: Readonly<Record<string, Uint8Array | string>>
  /** Charts and diagrams by relation id: the relation's type, and the XML. */
  readonly drawn?: Readonly<Record<string, readonly [type: string, xml: string]>>
  readonly prolog?: string
  readonly more?: ReadonlyArray<ZipPart>
}

export const p = (inner: string, properties = ""): string =>
  `<w:p>${properties === "" ? "" : `<w:pPr>${properties}</w:pPr>`}${inner.startsWith("<") ? inner : r(inner)}</w:p>`
export const r = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`
export const styled = (id: string): string => `<w:pStyle w:val="${id}"/>`
export const listed = (id: number, at = 0): string =>
  `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${id}"/></w:numPr>`
/** An inline picture. The size is in drawing units, 360,000 a centimetre; the default is 12 × 5 cm. */
export const drawing = (
  id: string,
  alternative = "",
  kind = "embed",
  size: readonly [number, number] = [4_320_000, 1_800_000]
): string => {
  const [cx, cy] = size
  const names = `<pic:nvPicPr><pic:cNvPr id="0" name="Picture"/><pic:cNvPicPr/></pic:nvPicPr>`
  const shape = `<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="${cx}" cy="${cy}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr>`
  const picture = `<pic:pic>${names}<pic:blipFill><a:blip r:${kind}="${id}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>${shape}</pic:pic>`
  return `<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="${cx}" cy="${cy}"/><wp:docPr id="1" name="Picture 1" descr="${alternative}"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">${picture}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`
}
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  `<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/></w:tblPr><w:tblGrid>${"<w:gridCol/>".repeat(rows[0]?.length ?? 0)}</w:tblGrid>${rows.map((row) => `<w:tr>${row.join("")}</w:tr>`).join("")}</w:tbl>`
export const tc = (inner: string, properties = ""): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${inner.startsWith("<") ? inner : p(inner)}</w:tc>`

const WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
const override = (part: string, type: string): string =>
  `<Override PartName="/${part}" ContentType="${type}"/>`
const CONTENT_TYPES = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>${override("word/document.xml", `${WORD}.document.main+xml`)}${["styles", "numbering", "footnotes"].map((name) => override(`word/${name}.xml`, `${WORD}.${name}+xml`)).join("")}${override("docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml")}</Types>`

/** The parts of a document with this body. */
export const docxParts = (
  body: string,
  { drawn = {}, footnotes = "", more = [], pictures = {}, prolog = "", styles = "", title }: DocxParts = {}
): ReadonlyArray<ZipPart> => {
  const related = Object.entries(pictures).map(([id, picture]) =>
    typeof picture === "string"
      ? `<Relationship Id="${id}" Type="${R}/image" Target="${picture}" TargetMode="External"/>`
      : `<Relationship Id="${id}" Type="${R}/image" Target="media/${id}.png"/>`
  )
  const drawings = Object.entries(drawn).map(
    ([id, [type]]) => `<Relationship Id="${id}" Type="${R}/${type}" Target="drawn/${id}.xml"/>`
  )
  const types = ["styles", "numbering", "footnotes"].map(
    (type) => `<Relationship Id="${type}" Type="${R}/${type}" Target="${type}.xml"/>`
  )
  return [
    { name: "[Content_Types].xml", content: CONTENT_TYPES },
    {
      name: "_rels/.rels",
      content: `<Relationships xmlns="${RELS}"><Relationship Id="rId1" Type="${R}/officeDocument" Target="word/document.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`
    },
    {
      name: "docProps/core.xml",
      content: `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title ?? ""}</dc:title></cp:coreProperties>`
    },
    {
      name: "word/_rels/document.xml.rels",
      content: `<Relationships xmlns="${RELS}">${[...types, ...related, ...drawings].join("")}</Relationships>`
    },
    { name: "word/styles.xml", content: `<w:styles ${NAMESPACES}>${STYLES}${styles}</w:styles>` },
    { name: "word/numbering.xml", content: `<w:numbering ${NAMESPACES}>${NUMBERING}</w:numbering>` },
    {
      name: "word/footnotes.xml",
      content: `<w:footnotes ${NAMESPACES}><w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote><w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>${footnotes}</w:footnotes>`
    },
    {
      name: "word/document.xml",
      content: `<?xml version="1.0" encoding="UTF-8"?>${prolog}<w:document ${NAMESPACES}><w:body>${body}<w:sectPr/></w:body></w:document>`
    },
    ...Object.entries(pictures).flatMap(([id, picture]) =>
      typeof picture === "string" ? [] : [{ name: `word/media/${id}.png`, content: picture }]
    ),
    ...Object.entries(drawn).map(([id, [, content]]) => ({ name: `word/drawn/${id}.xml`, content })),
    ...more
  ]
}

export const docx = (body: string, parts?: DocxParts): Uint8Array => zip(docxParts(body, parts))

const chunk = (name: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data])
  const head = Buffer.alloc(4)
  head.writeUInt32BE(data.length)
  const tail = Buffer.alloc(4)
  tail.writeUInt32BE(crc32(body))
  return Buffer.concat([head, body, tail])
}

/** A white PNG. `claimed` is the size in its header, if that is wrong. */
export const png = (
  width: number,
  height: number,
  options: { readonly dpi?: number; readonly claimed?: readonly [number, number] } = {}
): Uint8Array => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(options.claimed?.[0] ?? width)
  header.writeUInt32BE(options.claimed?.[1] ?? height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const density = Buffer.alloc(9)
  density.writeUInt32BE(Math.round((options.dpi ?? 0) / 0.0254))
  density.writeUInt32BE(Math.round((options.dpi ?? 0) / 0.0254), 4)
  density[8] = 1
  const pixels = Buffer.alloc((width + 1) * height, 255)
  for (let row = 0; row < height; row++) pixels[row * (width + 1)] = 0
  return Uint8Array.from(
    Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      chunk("IHDR", header),
      ...(options.dpi === undefined ? [] : [chunk("pHYs", density)]),
      chunk("IDAT", deflateSync(pixels)),
      chunk("IEND", Buffer.alloc(0))
    ])
  )
}
