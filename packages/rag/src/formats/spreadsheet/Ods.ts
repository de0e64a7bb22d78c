/** Reads OpenDocument spreadsheets. Their cells have the text that is shown. */
import { readXml } from "../container/Xml.ts"
import type { ZipContainer } from "../container/ZipContainer.ts"
import { Sheet } from "./Sheet.ts"
import type { SheetText } from "./SheetText.ts"

/** Copies of a repeated cell or row with text. More are empty cells up to the sheet's end, or a bomb. */
const MAX_COPIES = 1_000

const numberAt = (value: string | undefined): number => Math.max(1, Number.parseInt(value ?? "", 10) || 1)

interface Merge {
  readonly at: readonly [row: number, column: number]
  readonly rows: number
  readonly columns: number
}

/** Writes the sheets of a document, and returns the names of hidden ones, which are left out. */
export const readOds = async (from: ZipContainer, out: SheetText): Promise<ReadonlyArray<string>> => {
  const hiddenStyles = new Set<string>()
  const hidden: Array<string> = []
  const count = { cells: 0, merged: 0 }
  let sheet: Sheet | undefined
  let name = ""
  let merges: Array<Merge> = []
  let row = 0
  let rowCopies = 1
  /** The texts of the current row, from column 1. */
  let cells: Array<readonly [column: number, text: string]> = []
  let column = 0
  let cellCopies = 1
  let text: string | undefined
  let style = ""
  let paragraphs = 0
  /** Depth of open comments. */
  let comments = 0

  const closeCell = (): void => {
    const own = text ?? ""
    const copies = own === "" ? 0 : Math.min(cellCopies, MAX_COPIES)
    for (let i = 1; i <= copies; i++) cells.push([column + i, own])
    column += cellCopies
    text = undefined
  }
  const closeRow = (): void => {
    const copies = cells.length === 0 ? 0 : Math.min(rowCopies, MAX_COPIES)
    for (let i = 1; i <= copies; i++) for (const [at, own] of cells) sheet?.set(row + i, at, own)
    row += rowCopies
  }
  const closeTable = (): void => {
    for (const { at, columns, rows } of merges) sheet?.merge(at[0], at[1], rows, columns)
    if (sheet !== undefined) out.sheet(name, sheet.rows())
    sheet = undefined
  }

  await readXml(from.read("content.xml"), {
    open(element, attributes) {
      if (element === "style:style") style = attributes["style:name"] ?? ""
      else if (element === "style:table-properties" && attributes["table:display"] === "false")
        hiddenStyles.add(style)
      else if (element === "table:table") {
        name = attributes["table:name"] ?? ""
        const isHidden = hiddenStyles.has(attributes["table:style-name"] ?? "")
        if (isHidden) hidden.push(name)
        sheet = isHidden ? undefined : new Sheet(count)
        merges = []
        row = 0
      } else if (element === "table:table-row") {
        rowCopies = numberAt(attributes["table:number-rows-repeated"])
        cells = []
        column = 0
      } else if (element === "table:table-cell" || element === "table:covered-table-cell") {
        cellCopies = numberAt(attributes["table:number-columns-repeated"])
        text = ""
        paragraphs = 0
        const rows = numberAt(attributes["table:number-rows-spanned"])
        const columns = numberAt(attributes["table:number-columns-spanned"])
        if (rows * columns > 1) merges.push({ at: [row + 1, column + 1], rows, columns })
      } else if (element === "office:annotation") comments++
      else if (text === undefined || comments > 0) return
      else if (element === "text:p" && paragraphs++ > 0) text += " "
      else if (element === "text:s" || element === "text:tab" || element === "text:line-break") text += " "
    },
    text(own) {
      if (paragraphs > 0 && comments === 0 && text !== undefined) text += own
    },
    close(element) {
      if (element === "office:annotation") comments--
      else if (element === "table:table-cell" || element === "table:covered-table-cell") closeCell()
      else if (element === "table:table-row") closeRow()
      else if (element === "table:table") closeTable()
    }
  })
  return hidden
}
