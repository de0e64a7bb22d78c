/** Reads Excel workbooks. */
import { readRelations, targetOf } from "../container/Relations.ts"
import { findAll, readTree, readXml } from "../container/Xml.ts"
import type { ZipContainer } from "../container/ZipContainer.ts"
import { malformed } from "../parsing/FormatFault.ts"
import { numberFormats } from "./NumberFormat.ts"
import { type CellCount, Sheet } from "./Sheet.ts"
import type { SheetText } from "./SheetText.ts"

/** Row and column, from 1, of `B12` or `$B$12`. */
const cellOf = (reference = ""): readonly [row: number, column: number] | undefined => {
  const [, letters, digits] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(reference) ?? []
  if (letters === undefined) return undefined
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return [Number(digits), column]
}

/** The texts that cells share, without their phonetic guides. */
const readSharedStrings = async (part: AsyncIterable<Uint8Array>): Promise<ReadonlyArray<string>> => {
  const strings: Array<string> = []
  let own: string | undefined
  let inText = false
  let guides = 0
  await readXml(part, {
    open(name) {
      if (name === "s:si") own = ""
      else if (name === "s:rPh") guides++
      else if (name === "s:t") inText = guides === 0
    },
    text: (text) => {
      if (inText && own !== undefined) own += text
    },
    close(name) {
      if (name === "s:si") strings.push(own ?? "")
      else if (name === "s:rPh") guides--
      else if (name === "s:t") inText = false
    }
  })
  return strings
}

interface Workbook {
  readonly strings: ReadonlyArray<string>
  readonly format: ReturnType<typeof numberFormats>
}

/** The cached value of a cell as it is shown. `type` is the cell's `t`. */
const shownText = (value: string, type: string, style: string | undefined, book: Workbook): string => {
  if (type === "s") return book.strings[Number(value)] ?? ""
  if (type === "b") return value === "1" ? "TRUE" : "FALSE"
  const number = type === "n" && value !== "" ? Number(value) : NaN
  return Number.isFinite(number) ? book.format(style)(number) : value
}

const readSheet = async (
  part: AsyncIterable<Uint8Array>,
  book: Workbook,
  count: CellCount
): Promise<Sheet> => {
  const sheet = new Sheet(count)
  const merges: Array<string> = []
  let [row, column] = [0, 0]
  let type = "n"
  let style: string | undefined
  let value = ""
  let inValue = false
  await readXml(part, {
    open(name, attributes) {
      if (name === "s:row") {
        row = Number(attributes["r"]) || row + 1
        column = 0
      } else if (name === "s:c") {
        ;[row, column] = cellOf(attributes["r"]) ?? [row, column + 1]
        type = attributes["t"] ?? "n"
        style = attributes["s"]
        value = ""
      } else if (name === "s:v" || name === "s:t") inValue = true
      else if (name === "s:mergeCell") merges.push(attributes["ref"] ?? "")
    },
    text(text) {
      if (inValue) value += text
    },
    close(name) {
      if (name === "s:v" || name === "s:t") inValue = false
      else if (name === "s:c") sheet.set(row, column, shownText(value, type, style, book))
    }
  })
  for (const merge of merges) {
    const [from, to] = merge.split(":").map(cellOf)
    if (from && to) sheet.merge(from[0], from[1], to[0] - from[0] + 1, to[1] - from[1] + 1)
  }
  return sheet
}

/** Writes the sheets of a workbook in their order, and returns the names of hidden ones, which are left out. */
export const readXlsx = async (from: ZipContainer, out: SheetText): Promise<ReadonlyArray<string>> => {
  const main = targetOf(await readRelations(from, ""), "officeDocument") ?? "xl/workbook.xml"
  if (!from.has(main)) {
    throw malformed("this is no Excel workbook. Save it in Excel as .xlsx, or correct the file's ending.")
  }
  const workbook = await readTree(from.read(main))
  const relations = await readRelations(from, main)
  const part = (type: string) => from.read(targetOf(relations, type) ?? "")
  const [properties] = findAll(workbook, ["s:workbookPr"])
  const is1904 = /^(?:1|true)$/.test(properties?.attributes["date1904"] ?? "")
  const book: Workbook = {
    strings: await readSharedStrings(part("sharedStrings")),
    format: numberFormats(await readTree(part("styles")), is1904)
  }
  const count = { cells: 0, merged: 0 }
  const hidden: Array<string> = []
  for (const { attributes } of findAll(workbook, ["s:sheet"])) {
    const { name = "", "r:id": id = "", state = "visible" } = attributes
    const relation = relations.get(id)
    if (state !== "visible") hidden.push(name)
    else if (relation?.type === "worksheet" && !relation.external) {
      out.sheet(name, (await readSheet(from.read(relation.target), book, count)).rows())
    }
  }
  return hidden
}
