/** Answers a question by SQL that a chat model writes over the retrieved tables. Each row of the result cites its rows. */
import type { QuestionRewriter } from "@sluice/core"
import type { CitedSentence, Evidence, RefusedSql, SqlColumn, SqlTable } from "@sluice/core/models"
import { Effect, Option, Struct } from "effect"
import { columnNumbers, formatNumber } from "./ColumnNumbers.ts"
import { type DuckTable, findDuck, runSql, type SourceRow, type SqlResult } from "./Duck.ts"
import type { TableAnswer } from "./TableAnswer.ts"
import { lineOf, MAX_CITED, type RetrievedTable } from "./TableRows.ts"

const TABLES = {
  /** Cells of all tables. A larger table is left out. */
  cells: 200_000,
  /** Values of a column that the model sees, and their characters. */
  examples: 8,
  exampleLength: 60,
  titleLength: 300
} as const

/** Decimals of a number that is not exact, such as an average. */
const DECIMALS = 4

export type ToSql = NonNullable<QuestionRewriter["Service"]["toSql"]>

/** What was tried. Without `answer`, the question is read as usual. */
export interface SqlAttempt {
  readonly answer?: TableAnswer
  readonly sql?: string
  readonly tokens: number
  readonly failed?: string
}

const identifier = (text: string, taken: ReadonlySet<string>, otherwise: string): string => {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const name = words.join("_").slice(0, 60) || otherwise
  const safe = /^\p{N}/u.test(name) ? `_${name}` : name
  for (let n = 1; ; n++) {
    const numbered = n === 1 ? safe : `${safe}_${n}`
    if (!taken.has(numbered)) return numbered
  }
}

const ISO = /^\d{4}-\d\d-\d\d$/
const GERMAN = /^(\d\d?)\.(\d\d?)\.(\d{4})$/
const TIME = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?$/

interface TypedColumn extends Pick<SqlColumn, "type" | "unit"> {
  readonly sqlType: string
  readonly values: ReadonlyArray<string | undefined>
}

/** A column as numbers or dates if all its cells are, else as texts. */
const typed = (cells: ReadonlyArray<string>): TypedColumn => {
  const numbers = columnNumbers(cells)
  const texts = cells.map((cell) => (cell.trim() === "" ? undefined : cell.trim()))
  if (numbers !== undefined && numbers.scaled.every((value) => `${value ?? 0}`.length <= 30)) {
    const { decimals, prefix, scaled, suffix } = numbers
    const unit = prefix || suffix
    const plain = { ...numbers, prefix: "", suffix: "" }
    return {
      type: "DECIMAL",
      sqlType: `DECIMAL(38, ${decimals})`,
      ...(unit !== "" && { unit }),
      values: scaled.map((value) => (value === undefined ? undefined : formatNumber(value, plain)))
    }
  }
  const all = (pattern: RegExp) =>
    texts.some(Boolean) && texts.every((text) => text === undefined || pattern.test(text))
  if (all(ISO)) return { type: "DATE", sqlType: "DATE", values: texts }
  if (all(TIME)) return { type: "TIMESTAMP", sqlType: "TIMESTAMP", values: texts }
  if (all(GERMAN)) {
    const values = texts.map((text) =>
      text?.replace(
        GERMAN,
        (_, day: string, month: string, year: string) =>
          `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
      )
    )
    return { type: "DATE", sqlType: "DATE", values }
  }
  return { type: "VARCHAR", sqlType: "VARCHAR", values: texts }
}

interface Described {
  readonly table: RetrievedTable
  readonly shown: SqlTable
  readonly stored: DuckTable
}

/** The tables as the model sees them, and as DuckDB has them. */
const describe = (tables: ReadonlyArray<RetrievedTable>): ReadonlyArray<Described> => {
  const names = new Set<string>()
  let cells = 0
  return tables.flatMap((table): ReadonlyArray<Described> => {
    const { header, passages, path, rows } = table
    cells += header.length * rows.length
    if (rows.length === 0 || cells > TABLES.cells) return []
    const name = identifier(path.split("/").at(-1) ?? "", names, "table")
    names.add(name)
    const taken = new Set<string>()
    const columns = header.map((title, i) => {
      const own = identifier(title, taken, `column_${i + 1}`)
      taken.add(own)
      return { name: own, title: title.trim(), ...typed(rows.map((row) => row[i] ?? "")) }
    })
    const captions = passages.flatMap(({ figure, headings }) => [...headings, figure?.caption ?? ""])
    const title = [...new Set([path, ...captions])].filter((text) => text !== "").join(" · ")
    const examplesOf = (values: TypedColumn["values"]) =>
      [...new Set(values.filter((value) => value !== undefined))]
        .slice(0, TABLES.examples)
        .map((value) => value.slice(0, TABLES.exampleLength))
    return [
      {
        table,
        shown: {
          name,
          title: title.slice(0, TABLES.titleLength),
          rows: rows.length,
          columns: columns.map((column) => ({
            ...Struct.omit(column, ["sqlType", "values"]),
            examples: examplesOf(column.values)
          }))
        },
        stored: { name, columns }
      }
    ]
  })
}

/** DuckDB names `count(*)` so. */
const labelOf = (column: string): string =>
  column === "count_star()" ? "count" : column.replaceAll("_", " ")

const textOf = (value: unknown): string =>
  typeof value === "number" ? String(Number(value.toFixed(DECIMALS))) : value === null ? "–" : String(value)

/** The quotes of a row of the result: the lines of its rows, or the tables where these are too many or not lines. */
const evidenceOf = (
  sources: ReadonlyArray<SourceRow>,
  used: ReadonlyArray<Described>,
  passages: TableAnswer["passages"]
): ReadonlyArray<Evidence> => {
  const place = (table: RetrievedTable, i: number) => passages.indexOf(table.passages[i]!)
  const keys = new Set(sources.map(({ row, table }) => `${table}\n${row}`))
  const lines = used.flatMap(({ shown, table }) =>
    table.rows.flatMap((row, i) => {
      if (!keys.has(`${shown.name}\n${i}`)) return []
      const line = lineOf(row, table.passages)
      return [line && { passage: place(table, line.passage), quote: line.quote }]
    })
  )
  const found = lines.filter((line) => line !== undefined)
  const own = used.flatMap(({ table }) => table.passages)
  const isWhole = found.length === 0 || found.length < lines.length || found.length > MAX_CITED
  if (isWhole && own.length <= MAX_CITED)
    return own.map((passage) => ({ passage: passages.indexOf(passage), quote: passage.text.trim() }))
  return found.slice(0, MAX_CITED)
}

const answerOf = (
  { columns, rows, tables }: SqlResult,
  described: ReadonlyArray<Described>
): TableAnswer | undefined => {
  const used = described.filter(({ shown }) => tables.includes(shown.name))
  const passages = used.flatMap(({ table }) => table.passages)
  // Several rows are a list.
  const sign = rows.length > 1 ? "- " : ""
  const sentences = rows.map(({ sources, values }): CitedSentence => {
    const named = values.map((value, i) => `${labelOf(columns[i] ?? "")}: ${textOf(value)}`)
    const all = used.flatMap(({ shown }) =>
      Array.from({ length: shown.rows }, (_, row) => ({ table: shown.name, row }))
    )
    return {
      text: `${sign}${named.join(" · ")}.`,
      evidence: evidenceOf(sources === undefined || sources.length === 0 ? all : sources, used, passages)
    }
  })
  const isEmpty =
    sentences.length === 0 || rows.every(({ values }) => values.every((value) => value === null))
  return isEmpty || sentences.some(({ evidence }) => evidence.length === 0)
    ? undefined
    : { sentences, passages }
}

/** Asks for SQL and runs it; once more with the reason if it cannot be run. Undefined without DuckDB or tables. */
export const sqlAnswer = Effect.fn("SqlAnswer.answer")(function* (
  question: string,
  tables: ReadonlyArray<RetrievedTable>,
  toSql: ToSql
): Effect.fn.Return<SqlAttempt | undefined> {
  const described = describe(tables)
  const duck = Option.getOrUndefined(described.length === 0 ? Option.none() : yield* findDuck)
  if (duck === undefined) return undefined
  const shown = described.map((one) => one.shown)
  const stored = described.map((one) => one.stored)
  let tokens = 0
  let refused: RefusedSql | undefined
  for (const isLast of [false, true]) {
    const written = yield* Effect.result(toSql(question, shown, refused))
    if (written._tag === "Failure") return { tokens, failed: written.failure.message }
    tokens += written.success.tokens
    const { sql } = written.success
    if (sql === undefined) return { tokens }
    const ran = yield* Effect.result(runSql(duck, stored, sql))
    if (ran._tag === "Success") {
      const answer = answerOf(ran.success, described)
      return { ...(answer !== undefined && { answer }), sql, tokens }
    }
    refused = { sql, message: ran.failure.message }
    if (isLast) return { sql, tokens, failed: refused.message }
  }
  return undefined
})
