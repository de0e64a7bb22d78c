/** Collections in BEIR's format: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv` or `qrels.tsv`, read line by line. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Effect, Schema, Stream } from "effect"
import { RagError } from "../document/RagError.ts"
import { invalidLine, jsonLines, lines } from "./JsonLines.ts"
import type { Judgements } from "./Metrics.ts"

const BeirDocument = Schema.Struct({
  _id: Schema.String,
  title: Schema.optional(Schema.NullOr(Schema.String)),
  text: Schema.String
})
export type BeirDocument = typeof BeirDocument.Type

const BeirQuery = Schema.Struct({ _id: Schema.String, text: Schema.String })
type BeirQuery = typeof BeirQuery.Type

/** The folder of a collection: `<data>/retrieval/<name>`, or `<data>/<name>`, as BEIR unpacks it. */
export const collectionFolder = (data: string, name: string): string => {
  const [usual, unpacked] = [join(data, "retrieval", name), join(data, name)]
  return !existsSync(usual) && existsSync(join(unpacked, "corpus.jsonl")) ? unpacked : usual
}

/** The documents of a collection's folder. Fails with `Malformed` if an identifier occurs twice. */
export const corpusOf = (folder: string): Stream.Stream<BeirDocument, RagError> =>
  Stream.suspend(() => {
    const path = join(folder, "corpus.jsonl")
    const seen = new Set<string>()
    return jsonLines(path, BeirDocument).pipe(
      Stream.mapEffect((document) => {
        const { _id: id } = document
        const message = `${path} has the _id ${JSON.stringify(id)} twice. Give each document its own _id.`
        if (seen.has(id)) return new RagError({ stage: "evaluate", reason: "Malformed", message })
        seen.add(id)
        return Effect.succeed(document)
      })
    )
  })

export const queriesOf = (folder: string): Stream.Stream<BeirQuery, RagError> =>
  jsonLines(join(folder, "queries.jsonl"), BeirQuery)

/** Files of judgements. Of BEIR's, the test set comes first. */
const JUDGEMENTS = ["qrels.tsv", "qrels/test.tsv", "qrels/dev.tsv", "qrels/train.tsv"]

const COLUMNS = "expected a query, a document and a whole number, separated by tabs"

/** Grades by query and document. The first line may be a header; grades are whole numbers. */
export const judgementsOf = (folder: string): Effect.Effect<ReadonlyMap<string, Judgements>, RagError> => {
  const name = JUDGEMENTS.find((name) => existsSync(join(folder, name))) ?? JUDGEMENTS[0]!
  const path = join(folder, name)
  return lines(path).pipe(
    Stream.runFoldEffect(
      () => new Map<string, Map<string, number>>(),
      (all, { number, text }) => {
        const [query = "", document = "", grade = ""] = text.split("\t")
        const value = Number(grade)
        if (number === 1 && Number.isNaN(value)) return Effect.succeed(all)
        if (query === "" || document === "" || !Number.isInteger(value))
          return invalidLine(path, number, COLUMNS)
        const own = all.get(query) ?? new Map<string, number>()
        return Effect.sync(() => all.set(query, own.set(document, value)))
      }
    )
  )
}
