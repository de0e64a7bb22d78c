/** Answers a question about a column of a table by counting, with the rows as its source. Where it is unsure, it does not. */
import { isSameWord } from "@sluice/core/text"
import type { CitedSentence } from "@sluice/core/models"
import type { StoredPassage } from "../document/Document.ts"
import { columnNumbers, formatNumber } from "./ColumnNumbers.ts"
import { type TableOperation, type TableQuestion, tableQuestion } from "./TableQuestion.ts"
import { lineOf, MAX_CITED, type RetrievedTable, nameWords } from "./TableRows.ts"

/** Rows with the same highest or lowest number. */
const MAX_TIES = 3

export interface TableAnswer {
  readonly sentences: ReadonlyArray<CitedSentence>
  /** What the evidence refers to. */
  readonly passages: ReadonlyArray<StoredPassage>
}

const LABELS: Record<TableOperation, readonly [english: string, chinese: string, german: string]> = {
  count: ["Rows", "行数", "Zeilen"],
  sum: ["Sum", "总和", "Summe"],
  average: ["Average", "平均值", "Durchschnitt"],
  highest: ["Highest", "最高", "Höchster Wert"],
  lowest: ["Lowest", "最低", "Niedrigster Wert"]
}

/** A question that counts the rows of a table names it as one. */
const NAMES_TABLE = /\b(?:rows?|entries|records|table|lines|zeilen|einträge|tabelle)\b|行|\.\w{2,5}\b/iu

const isKnown = (word: string, words: ReadonlyArray<string>): boolean =>
  words.some((other) => isSameWord(word, other))

/** The columns that are named, and whether everything in the question is. */
const namedColumns = (
  { chinese, names }: TableQuestion,
  { context, header }: RetrievedTable
): ReadonlyArray<number> | undefined => {
  const columns = header.flatMap((name, i) => {
    const words = nameWords(name)
    const isNamed = chinese
      ? words.length > 0 && names.some((text) => words.every((word) => text.includes(word)))
      : words.length > 0 && words.every((word) => isKnown(word, names))
    return isNamed ? [i] : []
  })
  const known = [...new Set([...context, ...header.flatMap(nameWords)])]
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
  table: RetrievedTable
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
    let scaledBy100 = (sum * 200n + (sum < 0n ? -count : count)) / (2n * count)
    let decimals = numbers.decimals + 2
    for (; decimals > 0 && scaledBy100 % 10n === 0n; decimals--) scaledBy100 /= 10n
    return { column: name, value: formatNumber(scaledBy100, { ...numbers, decimals }) }
  }
  const best = scaled.reduce((a, b) => (asked.operation === "highest" ? (b > a ? b : a) : b < a ? b : a))
  const rows = numbers.scaled.flatMap((value, i) => (value === best ? [i] : []))
  const label = named.find((other) => other !== column) ?? (column === 0 ? undefined : 0)
  if (rows.length > MAX_TIES || label === undefined) return undefined
  const labels = rows.map((i) => table.rows[i]![label]!.trim()).join(", ")
  return { column: name, value: `${cellsOf(column)[rows[0]!]!.trim()} (${labels})`, rows }
}

const answerOf = (question: string, asked: TableQuestion, table: RetrievedTable): TableAnswer | undefined => {
  const { passages } = table
  // First, because the numbers of a longer table take long.
  if (passages.length === 0 || passages.length > MAX_CITED) return undefined
  const found = calculate(asked, table)
  if (found === undefined) return undefined
  const lines = found.rows?.map((i) => lineOf(table.rows[i]!, passages))
  const evidence = lines ?? passages.map(({ text }, passage) => ({ passage, quote: text.trim() }))
  if (evidence.some((one) => one === undefined)) return undefined
  const language = asked.chinese ? 1 : /\b(?:wie|was|welche[rs]?|ist)\b/i.test(question) ? 2 : 0
  const name = [LABELS[asked.operation][language], found.column].filter((part) => part !== "").join(" · ")
  const text = `${name}${asked.chinese ? "：" : ": "}${found.value}${asked.chinese ? "。" : "."}`
  return { sentences: [{ text, evidence: evidence as CitedSentence["evidence"] }], passages }
}

/** Undefined if the question is no such question, or if not exactly one of the tables answers it. */
export const tableAnswer = (
  question: string,
  tables: ReadonlyArray<RetrievedTable>
): TableAnswer | undefined => {
  const asked = tableQuestion(question)
  if (asked === undefined || (asked.operation === "count" && !NAMES_TABLE.test(question))) return undefined
  const answers = tables.flatMap((table) => answerOf(question, asked, table) ?? [])
  return answers.length === 1 ? answers[0] : undefined
}
