/** Answers a question about a column of a table by counting, with the rows as its source. Where it is unsure, it does not. */
import { isSameWord } from "@sluice/core/text"
import type { CitedSentence } from "@sluice/core/models"
import { Effect } from "effect"
import type { DocumentInfo, Figure, Parsed, StoredPassage } from "../document/Document.ts"
import type { RagError } from "../document/RagError.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { columnNumbers, formatNumber } from "./ColumnNumbers.ts"
import { type TableOperation, type TableQuestion, tableQuestion } from "./TableQuestion.ts"

/** Documents whose tables are looked at, the best first. */
const MAX_TABLE_DOCUMENTS = 5

/** Pieces of a table that are cited. The rows of a longer one cannot be checked by a reader. */
const MAX_CITED = 20

/** Rows with the same highest or lowest number. */
const MAX_TIES = 3

export interface TableAnswer {
  readonly sentence: CitedSentence
  /** What the evidence refers to. */
  readonly passages: ReadonlyArray<StoredPassage>
}

/** Reads a document of the library again, with the rows of its tables. */
export type ReadDocument = (
  id: string
) => Effect.Effect<{ readonly info: DocumentInfo; readonly parsed: Parsed }, RagError>

interface Table {
  readonly header: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** Words that name the table: those of its document, headings and caption. */
  readonly context: ReadonlyArray<string>
  readonly passages: ReadonlyArray<StoredPassage>
}

const LABELS: Record<TableOperation, readonly [english: string, chinese: string, german: string]> = {
  count: ["Rows", "行数", "Zeilen"],
  sum: ["Sum", "总和", "Summe"],
  average: ["Average", "平均值", "Durchschnitt"],
  highest: ["Highest", "最高", "Höchster Wert"],
  lowest: ["Lowest", "最低", "Niedrigster Wert"]
}

const TOTAL = /^(?:grand )?(?:total|sum|subtotal|average|mean|gesamt|summe)\b|^(?:合计|总计|平均)/iu

/** A question that counts the rows of a table names it as one. */
const NAMES_TABLE = /\b(?:rows?|entries|records|table|lines|zeilen|einträge|tabelle)\b|行|\.\w{2,5}\b/iu

/** Characters of a column's name or of a label that are compared. */
const MAX_NAME = 400

const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .slice(0, MAX_NAME)
    .replace(/\(.*?\)|\[.*?\]/g, " ")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

const isKnown = (word: string, words: ReadonlyArray<string>): boolean =>
  words.some((other) => isSameWord(word, other))

const overlaps = (figure: Figure, passage: StoredPassage): boolean =>
  passage.figure?.kind === "table" && passage.start < figure.end && figure.start < passage.end

/** The recalled tables that have rows. */
const recalledTables = Effect.fnUntraced(function* (
  { trace }: Retrieval,
  collection: Collection,
  document: ReadDocument
): Effect.fn.Return<ReadonlyArray<Table>, RagError> {
  const recalled = trace.passages
    .map(({ passage }) => passage)
    .filter(({ figure }) => figure?.kind === "table")
  const ids = [...new Set(recalled.map(({ document }) => document.id))].slice(0, MAX_TABLE_DOCUMENTS)
  const tables = yield* Effect.forEach(ids, (id) =>
    Effect.gen(function* () {
      const { info, parsed } = yield* document(id)
      const { figures } = parsed
      const passages = yield* collection.passages(id)
      return figures
        .filter((figure) => recalled.some((one) => one.document.id === id && overlaps(figure, one)))
        .flatMap((figure): ReadonlyArray<Table> => {
          const own = passages.filter((passage) => overlaps(figure, passage))
          const [header, ...rows] = figure.rows ?? []
          const name = info.path.toLowerCase().split("/").at(-1) ?? ""
          const texts = [
            info.title,
            name,
            ...own.flatMap((one) => [...one.headings, one.figure?.caption ?? ""])
          ]
          return header === undefined
            ? []
            : [
                {
                  header,
                  rows: rows.filter((row) => !TOTAL.test(row[0]?.trim() ?? "")),
                  context: [name, ...texts.flatMap(wordsOf)],
                  passages: own
                }
              ]
        })
    })
  )
  return tables.flat()
})

/** The columns that are named, and whether everything in the question is. */
const namedColumns = (
  { chinese, names }: TableQuestion,
  { context, header }: Table
): ReadonlyArray<number> | undefined => {
  const columns = header.flatMap((name, i) => {
    const words = wordsOf(name)
    const isNamed = chinese
      ? name.trim() !== "" && names.some((text) => text.includes(name.trim().toLowerCase()))
      : words.length > 0 && words.every((word) => isKnown(word, names))
    return isNamed ? [i] : []
  })
  const known = [...context, ...header.flatMap(wordsOf)]
  const isExplained = (name: string): boolean => {
    if (!chinese) return isKnown(name, known)
    const rest = known
      .toSorted((a, b) => b.length - a.length)
      .reduce((text, word) => text.replace(word, ""), name)
    return rest.replace(/[\s.]/g, "") === ""
  }
  return names.every(isExplained) ? columns : undefined
}

/** The value as text, and the rows that it is of: all, if undefined. */
const calculate = (
  asked: TableQuestion,
  table: Table
): { readonly column: string; readonly value: string; readonly rows?: ReadonlyArray<number> } | undefined => {
  const named = namedColumns(asked, table)
  if (named === undefined || table.rows.length === 0) return undefined
  const cellsOf = (column: number) => table.rows.map((row) => row[column] ?? "")
  if (asked.operation === "count")
    return named.every((column) => column === 0)
      ? { column: "", value: String(table.rows.length) }
      : undefined
  const numeric = named.flatMap((column) => {
    const numbers = columnNumbers(cellsOf(column))
    return numbers === undefined ? [] : [{ column, numbers }]
  })
  const [only] = numeric
  if (numeric.length !== 1 || only === undefined) return undefined
  const { column, numbers } = only
  const scaled = numbers.scaled.filter((value) => value !== undefined)
  const name = table.header[column]!.trim()
  const sum = scaled.reduce((total, value) => total + value, 0n)
  if (asked.operation === "sum") return { column: name, value: formatNumber(sum, numbers) }
  if (asked.operation === "average") {
    const count = BigInt(scaled.length)
    // Two more decimals, rounded half away from zero.
    const hundredfold = (sum * 200n + (sum < 0n ? -count : count)) / (2n * count)
    const exact = formatNumber(hundredfold, {
      ...numbers,
      decimals: numbers.decimals + 2,
      prefix: "",
      suffix: ""
    })
    return { column: name, value: exact.replace(/\.?0+$/, "") }
  }
  const best = scaled.reduce((a, b) => (asked.operation === "highest" ? (b > a ? b : a) : b < a ? b : a))
  const rows = numbers.scaled.flatMap((value, i) => (value === best ? [i] : []))
  const label = named.find((other) => other !== column) ?? (column === 0 ? undefined : 0)
  if (rows.length > MAX_TIES || label === undefined) return undefined
  const labels = rows.map((i) => table.rows[i]![label]!.trim()).join(", ")
  return { column: name, value: `${cellsOf(column)[rows[0]!]!.trim()} (${labels})`, rows }
}

/** The line of a row: the only one that has all its cells. */
const lineOf = (row: ReadonlyArray<string>, passages: ReadonlyArray<StoredPassage>) => {
  const cells = row.map((cell) => cell.trim()).filter((cell) => cell !== "")
  const lines = passages.flatMap(({ text }, passage) =>
    text
      .split("\n")
      .filter((line) => cells.every((cell) => line.includes(cell)))
      .map((quote) => ({ passage, quote: quote.trim() }))
  )
  return lines.length === 1 ? lines[0] : undefined
}

const answerOf = (question: string, asked: TableQuestion, table: Table): TableAnswer | undefined => {
  const found = calculate(asked, table)
  const { passages } = table
  if (found === undefined || passages.length === 0 || passages.length > MAX_CITED) return undefined
  const lines = found.rows?.map((i) => lineOf(table.rows[i]!, passages))
  const evidence = lines ?? passages.map(({ text }, passage) => ({ passage, quote: text.trim() }))
  if (evidence.some((one) => one === undefined)) return undefined
  const language = asked.chinese ? 1 : /\b(?:wie|was|welche[rs]?|ist)\b/i.test(question) ? 2 : 0
  const name = [LABELS[asked.operation][language], found.column].filter((part) => part !== "").join(" · ")
  const text = `${name}${asked.chinese ? "：" : ": "}${found.value}${asked.chinese ? "。" : "."}`
  return { sentence: { text, evidence: evidence as CitedSentence["evidence"] }, passages }
}

/** Undefined if the question is no such question, or if not exactly one of the recalled tables answers it. */
export const tableAnswer = Effect.fn("TableAnswer.answer")(function* (
  question: string,
  retrieval: Retrieval,
  collection: Effect.Effect<Collection, RagError>,
  document: ReadDocument
): Effect.fn.Return<TableAnswer | undefined, RagError> {
  const asked = tableQuestion(question)
  if (asked === undefined) return undefined
  if (asked.operation === "count" && !NAMES_TABLE.test(question)) return undefined
  const tables = yield* recalledTables(retrieval, yield* collection, document)
  const answers = tables.flatMap((table) => answerOf(question, asked, table) ?? [])
  return answers.length === 1 ? answers[0] : undefined
})
