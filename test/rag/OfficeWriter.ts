/** Writes Excel workbooks and OpenDocument files from the XML of their parts. */
import { zip, type ZipPart } from "./ZipWriter.ts"

const R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

/** A part of relations: each is a type, a target, and its identifier. */
export const relations = (
  name: string,
  entries: ReadonlyArray<readonly [id: string, type: string, target: string]>
): ZipPart => ({
  name,
  content: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${entries.map(([id, type, target]) => `<Relationship Id="${id}" Type="${R}/${type}" Target="${target}"/>`).join("")}</Relationships>`
})

export interface SheetXml {
  readonly name: string
  /** The rows, and what follows `sheetData`. */
  readonly rows: string
  readonly after?: string
  readonly state?: string
}

export interface WorkbookParts {
  readonly strings?: ReadonlyArray<string>
  /** Number formats of styles 0, 1, …: codes, or numbers of built-in ones. */
  readonly formats?: ReadonlyArray<string | number>
  readonly is1904?: boolean
}

export const xlsxParts = (
  sheets: ReadonlyArray<SheetXml>,
  { formats = [0], is1904 = false, strings = [] }: WorkbookParts = {}
): ReadonlyArray<ZipPart> => {
  const codes = formats.flatMap((format, i) =>
    typeof format === "string"
      ? [`<numFmt numFmtId="${164 + i}" formatCode="${format.replaceAll('"', "&quot;")}"/>`]
      : []
  )
  const styles = formats.map(
    (format, i) => `<xf numFmtId="${typeof format === "number" ? format : 164 + i}"/>`
  )
  return [
    relations("_rels/.rels", [["rId1", "officeDocument", "xl/workbook.xml"]]),
    {
      name: "xl/workbook.xml",
      content: `<workbook xmlns="${S}" xmlns:r="${R}"><workbookPr${is1904 ? ' date1904="1"' : ""}/><sheets>${sheets.map(({ name, state }, i) => `<sheet name="${name}" sheetId="${i + 1}"${state === undefined ? "" : ` state="${state}"`} r:id="s${i}"/>`).join("")}</sheets></workbook>`
    },
    relations("xl/_rels/workbook.xml.rels", [
      ["t", "styles", "styles.xml"],
      ["u", "sharedStrings", "sharedStrings.xml"],
      ...sheets.map((_, i) => [`s${i}`, "worksheet", `worksheets/sheet${i}.xml`] as const)
    ]),
    {
      name: "xl/styles.xml",
      content: `<styleSheet xmlns="${S}"><numFmts>${codes.join("")}</numFmts><cellXfs>${styles.join("")}</cellXfs></styleSheet>`
    },
    {
      name: "xl/sharedStrings.xml",
      content: `<sst xmlns="${S}">${strings.map((own) => `<si>${own.startsWith("<") ? own : `<t>${own}</t>`}</si>`).join("")}</sst>`
    },
    ...sheets.map(({ after = "", rows }, i) => ({
      name: `xl/worksheets/sheet${i}.xml`,
      content: `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="${S}"><sheetData>${rows}</sheetData>${after}</worksheet>`
    }))
  ]
}

export const xlsx = (sheets: ReadonlyArray<SheetXml>, parts?: WorkbookParts): Uint8Array =>
  zip(xlsxParts(sheets, parts))

/** A cell with its text inline. */
export const textCell = (reference: string, text: string): string =>
  `<c r="${reference}" t="inlineStr"><is><t>${text}</t></is></c>`

/** A cell with a number, in a style. */
export const numberCell = (reference: string, value: number | string, style = 0): string =>
  `<c r="${reference}" s="${style}"><v>${value}</v></c>`

/** Rows of inline texts from `A1` on. */
export const textRows = (rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  rows
    .map(
      (row, i) =>
        `<row r="${i + 1}">${row.map((text, j) => textCell(`${String.fromCharCode(65 + j)}${i + 1}`, text)).join("")}</row>`
    )
    .join("")

const ODF = ["office", "text", "table", "style", "presentation", "fo"]
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .concat([
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"',
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"',
    'xmlns:xlink="http://www.w3.org/1999/xlink"',
    'xmlns:dc="http://purl.org/dc/elements/1.1/"'
  ])
  .join(" ")

/** An OpenDocument file: `kind` is `text`, `spreadsheet` or `presentation`. */
export const openDocumentParts = (
  kind: "text" | "spreadsheet" | "presentation",
  body: string,
  {
    more = [],
    styles = "",
    title = ""
  }: { styles?: string; title?: string; more?: ReadonlyArray<ZipPart> } = {}
): ReadonlyArray<ZipPart> => [
  { name: "mimetype", content: `application/vnd.oasis.opendocument.${kind}` },
  {
    name: "meta.xml",
    content: `<office:document-meta ${ODF}><office:meta><dc:title>${title}</dc:title></office:meta></office:document-meta>`
  },
  {
    name: "content.xml",
    content: `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${ODF}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`
  },
  ...more
]

export const openDocument = (...parts: Parameters<typeof openDocumentParts>): Uint8Array =>
  zip(openDocumentParts(...parts))

const P = "http://schemas.openxmlformats.org/presentationml/2006/main"
const A = "http://schemas.openxmlformats.org/drawingml/2006/main"

export interface SlideXml {
  /** Shapes, tables and pictures. */
  readonly shapes: string
  readonly notes?: string
  readonly hidden?: true
}

/** A shape with a paragraph for each text; `[level, text]` for lower ones. */
export const shape = (
  texts: ReadonlyArray<string | readonly [level: number, text: string]>,
  placeholder?: string
): string =>
  `<p:sp><p:nvSpPr><p:cNvPr id="2" name="Shape"/><p:nvPr>${placeholder === undefined ? "" : `<p:ph type="${placeholder}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${texts
    .map((text) => {
      const [level, own] = typeof text === "string" ? [0, text] : text
      return `<a:p><a:pPr lvl="${level}"/><a:r><a:t>${own}</a:t></a:r></a:p>`
    })
    .join("")}</p:txBody></p:sp>`

export const pptxParts = (
  slides: ReadonlyArray<SlideXml>,
  { more = [], title = "" }: { title?: string; more?: ReadonlyArray<ZipPart> } = {}
): ReadonlyArray<ZipPart> => {
  const open = `xmlns:p="${P}" xmlns:a="${A}" xmlns:r="${R}" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`
  return [
    relations("_rels/.rels", [
      ["rId1", "officeDocument", "ppt/presentation.xml"],
      ["rId2", "core-properties", "docProps/core.xml"]
    ]),
    {
      name: "docProps/core.xml",
      content: `<cp:coreProperties xmlns:cp="urn:x" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title></cp:coreProperties>`
    },
    {
      name: "ppt/presentation.xml",
      content: `<p:presentation ${open}><p:sldIdLst>${slides.map((_, i) => `<p:sldId id="${256 + i}" r:id="s${i}"/>`).join("")}</p:sldIdLst></p:presentation>`
    },
    relations(
      "ppt/_rels/presentation.xml.rels",
      slides.map((_, i) => [`s${i}`, "slide", `slides/slide${i}.xml`])
    ),
    ...slides.flatMap(({ hidden, notes, shapes }, i) => [
      {
        name: `ppt/slides/slide${i}.xml`,
        content: `<p:sld ${open}${hidden === undefined ? "" : ' show="0"'}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`
      },
      relations(`ppt/slides/_rels/slide${i}.xml.rels`, [
        ["n", "notesSlide", `../notesSlides/notes${i}.xml`],
        ["p", "image", "../media/p.png"]
      ]),
      {
        name: `ppt/notesSlides/notes${i}.xml`,
        content: `<p:notes ${open}><p:cSld><p:spTree>${notes === undefined ? "" : shape([notes], "body")}${shape([String(i + 1)], "sldNum")}</p:spTree></p:cSld></p:notes>`
      }
    ]),
    ...more
  ]
}

export const pptx = (...parts: Parameters<typeof pptxParts>): Uint8Array => zip(pptxParts(...parts))
