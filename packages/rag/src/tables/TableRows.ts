/** The tables of retrieved documents, with all their rows. */
import { Effect } from "effect"
import type { DocumentInfo, Figure, Parsed, StoredPassage } from "../document/Document.ts"
import type { RagError } from "../document/RagError.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"
import type { Collection } from "../store/PassageIndex.ts"

/** Documents whose tables are looked at, the best first. */
const MAX_TABLE_DOCUMENTS = 5

/** Passages of such a document. A larger one is not read again for a question: all of it would be in memory. */
const MAX_PASSAGES = 2_000

/** Columns of a table, whose names are compared with the question's words. */
const MAX_COLUMNS = 200

/** Pieces of a table that are cited. The rows of a longer one cannot be checked by a reader. */
export const MAX_CITED = 20

/** Reads a document of the library again, with the rows of its tables. */
export type ReadDocument = (
  id: string
) => Effect.Effect<{ readonly info: DocumentInfo; readonly parsed: Parsed }, RagError>

export interface RetrievedTable {
  /** Its document's path. */
  readonly path: string
  readonly header: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** Words that name the table: those of its document, headings and caption. */
  readonly context: ReadonlyArray<string>
  readonly passages: ReadonlyArray<StoredPassage>
}

const TOTAL = /^(?:grand )?(?:total|sum|subtotal|average|mean|gesamt|summe)\b|^(?:合计|总计|平均)/iu

/** Characters of a column's name or of a label that are compared. */
const MAX_NAME = 400

export const nameWords = (text: string): ReadonlyArray<string> => [
  ...new Set(
    text
      .slice(0, MAX_NAME)
      .replace(/\(.*?\)|（.*?）|\[.*?\]/g, " ")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
  )
]

const overlaps = (figure: Figure, passage: StoredPassage): boolean =>
  passage.figure?.kind === "table" && passage.start < figure.end && figure.start < passage.end

/** How many pieces the table of a passage has. All but the first have its head. */
const piecesOf = ({ ordinal }: StoredPassage, passages: ReadonlyArray<StoredPassage>): number => {
  const pieces = new Map(passages.map((passage) => [passage.ordinal, passage]))
  const isLater = (at: number) => pieces.get(at)?.figure?.head !== undefined
  let [from, to] = [ordinal, ordinal + 1]
  while (isLater(from)) from--
  while (isLater(to)) to++
  return to - from
}

/** The recalled tables that have rows. A document is only read again for one of at most `most` pieces. */
export const recalledTables = Effect.fnUntraced(function* (
  { trace }: Retrieval,
  collection: Collection,
  document: ReadDocument,
  most: number
): Effect.fn.Return<ReadonlyArray<RetrievedTable>, RagError> {
  const recalled = trace.passages
    .map(({ passage }) => passage)
    .filter(({ figure }) => figure?.kind === "table")
  const ids = [...new Set(recalled.map(({ document }) => document.id))].slice(0, MAX_TABLE_DOCUMENTS)
  const tables = yield* Effect.forEach(ids, (id) =>
    Effect.gen(function* () {
      if (((yield* collection.document(id))?.info.passages ?? 0) > MAX_PASSAGES) return []
      const passages = yield* collection.passages(id)
      const asked = recalled.filter((one) => one.document.id === id)
      if (!asked.some((one) => piecesOf(one, passages) <= most)) return []
      const { info, parsed } = yield* document(id)
      return parsed.figures
        .filter((figure) => asked.some((one) => overlaps(figure, one)))
        .flatMap((figure): ReadonlyArray<RetrievedTable> => {
          const own = passages.filter((passage) => overlaps(figure, passage))
          const [header, ...rows] = figure.rows ?? []
          const name = info.path.toLowerCase().split("/").at(-1) ?? ""
          const texts = [
            info.title,
            name,
            ...own.flatMap((one) => [...one.headings, one.figure?.caption ?? ""])
          ]
          return header === undefined || header.length > MAX_COLUMNS
            ? []
            : [
                {
                  path: info.path,
                  header,
                  rows: rows.filter((row) => !TOTAL.test(row[0]?.trim() ?? "")),
                  context: [name, ...texts.flatMap(nameWords)],
                  passages: own
                }
              ]
        })
    })
  )
  return tables.flat()
})

/** The line of a row: the only one that has all its cells. */
export const lineOf = (row: ReadonlyArray<string>, passages: ReadonlyArray<StoredPassage>) => {
  const cells = row.map((cell) => cell.trim()).filter((cell) => cell !== "")
  const lines = passages.flatMap(({ text }, passage) =>
    text
      .split("\n")
      .filter((line) => cells.every((cell) => line.includes(cell)))
      .map((quote) => ({ passage, quote: quote.trim() }))
  )
  return lines.length === 1 ? lines[0] : undefined
}
