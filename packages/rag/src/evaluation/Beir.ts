/** Collections in BEIR's format: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`, read line by line. */
import { createReadStream } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Effect, Schema, Stream } from "effect"
import { RagError } from "../RagError.ts"
import type { Judgements } from "./Metrics.ts"

/** A document to be found. */
export const BeirDocument = Schema.Struct({
  _id: Schema.String,
  title: Schema.optional(Schema.NullOr(Schema.String)),
  text: Schema.String
})
export type BeirDocument = typeof BeirDocument.Type

/** A question. */
export const BeirQuery = Schema.Struct({ _id: Schema.String, text: Schema.String })
export type BeirQuery = typeof BeirQuery.Type

/** The documents of a collection's folder. */
export const corpusOf = (folder: string): Stream.Stream<BeirDocument, RagError> =>
  jsonLines(join(folder, "corpus.jsonl"), BeirDocument)

/** The questions of a collection's folder. */
export const queriesOf = (folder: string): Stream.Stream<BeirQuery, RagError> =>
  jsonLines(join(folder, "queries.jsonl"), BeirQuery)

/** Query → document → grade. The first line is a heading; grades are whole numbers. */
export const judgementsOf = (folder: string): Effect.Effect<ReadonlyMap<string, Judgements>, RagError> => {
  const path = join(folder, "qrels.tsv")
  return lines(path).pipe(
    Stream.runFoldEffect(
      () => new Map<string, Map<string, number>>(),
      (all, { number, text }) => {
        const [query = "", document = "", grade = ""] = text.split("\t")
        const value = Number(grade)
        if (number === 1 && Number.isNaN(value)) return Effect.succeed(all)
        if (query === "" || document === "" || !Number.isInteger(value)) return damaged(path, number)
        const own = all.get(query) ?? new Map<string, number>()
        return Effect.sync(() => all.set(query, own.set(document, value)))
      }
    )
  )
}

/** A file of JSON, one value a line. */
export const jsonLines = <A>(path: string, schema: Schema.Codec<A, unknown>): Stream.Stream<A, RagError> => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return lines(path).pipe(
    Stream.mapEffect(({ number, text }) =>
      decode(text).pipe(Effect.catch((cause) => damaged(path, number, cause)))
    )
  )
}

const lines = (path: string): Stream.Stream<{ readonly number: number; readonly text: string }, RagError> =>
  Stream.suspend(() =>
    Stream.fromAsyncIterable(
      createInterface({ input: createReadStream(path, "utf8"), crlfDelay: Infinity }),
      (cause) => unreadable(path, cause)
    )
  ).pipe(
    Stream.zipWithIndex,
    Stream.map(([text, index]) => ({ number: index + 1, text })),
    Stream.filter(({ text }) => text.trim() !== "")
  )

const unreadable = (path: string, cause: unknown): RagError =>
  new RagError({
    stage: "evaluate",
    reason: (cause as NodeJS.ErrnoException).code === "ENOENT" ? "NotFound" : "Store",
    message: `${path} cannot be read. Collections are folders with corpus.jsonl, queries.jsonl and qrels.tsv; questions are a file of JSON, one object a line.`,
    cause
  })

const damaged = (path: string, line: number, cause?: unknown): Effect.Effect<never, RagError> =>
  Effect.fail(
    new RagError({
      stage: "evaluate",
      reason: "Malformed",
      message: `Line ${line} of ${path} is not as its format wants it. Mend the line.`,
      ...(cause === undefined ? {} : { cause })
    })
  )
