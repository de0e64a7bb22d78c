/** Parses spreadsheets: Excel workbooks and OpenDocument spreadsheets. */
import { officeFormat, openOffice } from "../container/OfficeFile.ts"
import { readOds } from "./Ods.ts"
import { SheetText } from "./SheetText.ts"
import { readXlsx } from "./Xlsx.ts"

const OLD = "this is an old Excel file (.xls). Save it in Excel as .xlsx."

/**
 * The sheets of a workbook as tables, with dates, percents and currencies as they are shown, and the cached values of
 * formulas. Merged cells are repeated. Hidden sheets are left out.
 */
const readSpreadsheet = async (bytes: Uint8Array) => {
  const from = await openOffice(bytes, OLD)
  const out = new SheetText()
  const hidden = await (from.has("content.xml") ? readOds(from, out) : readXlsx(from, out))
  const faults = hidden.map((name) => ({ message: `The sheet ${name} is hidden, and was left out.` }))
  return { from, draft: out.finish("spreadsheet", faults) }
}

export const spreadsheetFormat = officeFormat(
  {
    id: "spreadsheet",
    label: "Spreadsheet",
    extensions: ["xlsx", "xlsm", "ods"],
    mediaTypes: ["application/octet-stream"]
  },
  readSpreadsheet
)
