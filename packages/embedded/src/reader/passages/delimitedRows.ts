/** Lines of a CSV or TSV file: the header, then a row each. Quoted cells may hold delimiters and line breaks. */
import { escape } from "effect/RegExp"
import type { Sentence } from "./Sentence.ts"

export const delimitedRows = (text: string, delimiter: string): ReadonlyArray<Sentence> => {
  const parting = escape(delimiter)
  const rows = new RegExp(`(?:(?<=^|${parting})"(?:[^"]|"")*"|[^\\r\\n])+`, "gm")
  const cells = new RegExp(`(?<=^|${parting})(?: *"((?:[^"]|"")*)"[^${parting}]*|[^${parting}]*)`, "g")
  return Array.from(text.matchAll(rows), ({ 0: row, index }, at) => ({
    kind: at === 0 ? "header" : "row",
    text: Array.from(row.matchAll(cells), ([cell, quoted]) => quoted?.replaceAll('""', '"') ?? cell)
      .map((cell) => cell.replace(/\s+/g, " ").trim())
      .filter((cell) => cell !== "")
      .join(" · "),
    start: index,
    end: index + row.length,
    block: at
  }))
}
