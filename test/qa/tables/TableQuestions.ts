/** The questions about tables, and what counts as an exact answer. */
import type { Answer } from "@sluice/rag"
import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface TableQuestion {
  readonly kind: "count" | "sum" | "extreme" | "average" | "condition" | "grouped" | "joined"
  readonly question: string
  /** The values of each row of the result, in any order of the rows. */
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** What a chat model may write. Absent where one column is enough. */
  readonly sql?: string
}

/** Written by hand, with their answers, before the code that answers them. */
export const tableQuestions = (): ReadonlyArray<TableQuestion> =>
  readFileSync(join(import.meta.dirname, "questions.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as TableQuestion)

export const isCalculated = ({ trace }: Answer): boolean =>
  trace.stages.some(({ failed, stage }) => stage === "calculate" && failed === undefined)

const NUMBER = /\d+(?:\.\d+)?/g

/** A number equals the expected one at the decimals that it has. A name is a word of the text. */
const findValue = (expected: string, text: string, from: number): number | undefined => {
  if (!/^\d/.test(expected)) {
    const at = text.indexOf(expected, from)
    return at < 0 ? undefined : at + expected.length
  }
  const decimals = expected.split(".")[1]?.length ?? 0
  for (const match of text.matchAll(NUMBER)) {
    const value = Number(match[0])
    const isEqual = decimals === 0 ? value === Number(expected) : value.toFixed(decimals) === expected
    if (match.index >= from && isEqual) return match.index + match[0].length
  }
  return undefined
}

/** Whether a sentence has the values of a row, one after the other. */
const hasRow = (sentence: string, row: ReadonlyArray<string>): boolean => {
  const text = sentence.replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")
  let at: number | undefined = 0
  for (const value of row) {
    at = findValue(value, text, at)
    if (at === undefined) return false
  }
  return true
}

/** A sentence for each row and no other, and each with its own row. */
export const isExact = ({ sentences }: Answer, rows: TableQuestion["rows"]): boolean => {
  const left = sentences.map(({ text }) => text)
  for (const row of rows) {
    const at = left.findIndex((text) => hasRow(text, row))
    if (at < 0) return false
    left.splice(at, 1)
  }
  return left.length === 0
}
