/** Parses CSV and TSV files. */
import { parse } from "csv-parse/sync"
import { Effect } from "effect"
import { type DocumentFormat, parseError } from "../parsing/DocumentFormat.ts"
import { endingOf } from "../parsing/FileName.ts"
import { decodeFile } from "../parsing/TextDecoding.ts"
import { MAX_ROWS } from "../spreadsheet/Sheet.ts"
import { SheetText } from "../spreadsheet/SheetText.ts"

const DELIMITERS = [",", ";", "\t", "|"] as const
/** Characters in which the delimiter is sought. */
const SAMPLE = 4_096

/** The most frequent delimiter of the first lines, outside of quoted cells. Tabs for TSV. */
const delimiterOf = (path: string, text: string): string => {
  if (endingOf(path) === "tsv") return "\t"
  const plain = text.slice(0, SAMPLE).replace(/"(?:[^"]|"")*"/g, "")
  const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!
}

/** The rows of a text, at most one above the limit. A quote within a cell, and an open one, are characters. */
const rowsOf = (path: string, text: string) => {
  const delimiter = delimiterOf(path, text)
  const options = { delimiter, relax_column_count: true, relax_quotes: true, to: MAX_ROWS + 1 }
  // csv-parse makes an error for each row of another length. Its stack would take ten times the row's time.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return parse(text, options)
  } catch {
    return parse(text, { ...options, quote: false })
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

export const csvFormat: DocumentFormat = {
  id: "csv",
  label: "CSV",
  extensions: ["csv", "tsv"],
  mediaTypes: ["text/csv; charset=utf-8"],
  parse: Effect.fnUntraced(function* (file) {
    const text = yield* decodeFile(file, "CSV")
    const rows = rowsOf(file.path, text)
    if (rows.length > MAX_ROWS) {
      const message = `the file has more than ${MAX_ROWS.toLocaleString("en-US")} rows. Split it.`
      return yield* parseError(file.path, "TooLarge", message)
    }
    const out = new SheetText()
    out.sheet(
      undefined,
      rows.map((cells, at) => ({
        number: at + 1,
        cells: cells.map((text, column) => [column + 1, text] as const)
      }))
    )
    return out.finish("csv", [])
  })
}
