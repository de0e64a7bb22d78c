/** Parses JSON lines: a record each. */
import { Effect } from "effect"
import { type Block, TEXT_ONLY } from "../../document/Document.ts"
import type { Locator } from "../../document/Locator.ts"
import type { DocumentFormat } from "../parsing/DocumentFormat.ts"
import { decodeFile } from "../parsing/TextDecoding.ts"

/** Characters: a shorter record is one line. */
const SHORT = 300
/** Deeper values are left as JSON. */
const MAX_DEPTH = 5

/** `name: value` for each value, with the names of the objects around it: `berth.fee: 50`. */
const fieldsOf = (value: unknown, name: string, into: Array<string>, depth = 0): void => {
  if (value === null || value === "") return
  if (typeof value !== "object") into.push(name === "" ? String(value) : `${name}: ${String(value)}`)
  else if (depth >= MAX_DEPTH) into.push(`${name}: ${JSON.stringify(value)}`)
  else if (Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null)) {
    into.push(`${name === "" ? "" : `${name}: `}${value.filter((item) => item !== null).join(", ")}`)
  } else {
    for (const [key, own] of Object.entries(value)) {
      fieldsOf(own, Array.isArray(value) ? name : name === "" ? key : `${name}.${key}`, into, depth + 1)
    }
  }
}

/** Numbers keep their digits: identifiers have more than a JavaScript number can hold. */
const asWritten = (_: string, value: unknown, { source }: { readonly source?: string } = {}): unknown =>
  typeof value === "number" ? (source ?? value) : value

/** A record as a reader sees it. A line that is not JSON is left as it is. */
const recordText = (line: string): string => {
  const fields: Array<string> = []
  try {
    fieldsOf(JSON.parse(line, asWritten), "", fields)
  } catch {
    return line.trim()
  }
  const short = fields.join(", ")
  return (short.length <= SHORT ? short.replace(/\s+/g, " ") : fields.join("\n")).trim()
}

/** The records of a file, a paragraph each, with the number of their line as the place. */
export const jsonLinesFormat: DocumentFormat = {
  id: "jsonl",
  label: "JSON lines",
  extensions: ["jsonl", "ndjson"],
  mediaTypes: ["text/plain; charset=utf-8"],
  parse: Effect.fnUntraced(function* (file) {
    const source = yield* decodeFile(file, "JSON lines")
    const texts: Array<string> = []
    const blocks: Array<Block> = []
    const locators: Array<Locator> = []
    let length = 0
    for (const [at, line] of source.split(/\r?\n/).entries()) {
      const text = recordText(line).toWellFormed()
      if (text === "") continue
      const start = length === 0 ? 0 : length + 2
      length = start + text.length
      texts.push(text)
      blocks.push({ kind: text.includes("\n") ? "list" : "paragraph", start, end: length })
      locators.push({ start, end: length, label: `line ${at + 1}` })
    }
    const text = texts.join("\n\n")
    return { ...TEXT_ONLY, format: "jsonl", title: "", text, blocks, locators }
  })
}
