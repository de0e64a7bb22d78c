/** Text files of an evaluation, read line by line. Errors name the line. */
import { createReadStream } from "node:fs"
import { createInterface } from "node:readline"
import { Effect, Schema, Stream } from "effect"
import { RagError } from "../document/RagError.ts"

/** A file with one JSON value per line. */
export const jsonLines = <A>(path: string, schema: Schema.Codec<A, unknown>): Stream.Stream<A, RagError> => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return lines(path).pipe(
    Stream.mapEffect(({ number, text }) =>
      decode(text).pipe(Effect.catch((cause) => invalidLine(path, number, cause.message, cause)))
    )
  )
}

/** The lines of a text file that are not blank, numbered from 1. */
export const lines = (
  path: string
): Stream.Stream<{ readonly number: number; readonly text: string }, RagError> =>
  Stream.suspend(() =>
    Stream.fromAsyncIterable(
      createInterface({ input: createReadStream(path, "utf8"), crlfDelay: Infinity }),
      (cause) => unreadableFile(path, LAYOUT, cause)
    )
  ).pipe(
    Stream.zipWithIndex,
    // Editors on Windows write a byte order mark.
    Stream.map(([text, index]) => ({
      number: index + 1,
      text: index === 0 ? text.replace(/^\uFEFF/, "") : text
    })),
    Stream.filter(({ text }) => text.trim() !== "")
  )

const LAYOUT =
  "Collections are folders with corpus.jsonl, queries.jsonl and qrels/test.tsv or qrels.tsv; questions are a file with one JSON object per line (`--questions FILE`)."

/** The failure to read a file. `layout` says which files are expected. */
export const unreadableFile = (path: string, layout: string, cause: unknown): RagError => {
  const reason = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "NotFound" : "Store"
  return new RagError({ stage: "evaluate", reason, message: `${path} cannot be read. ${layout}`, cause })
}

export const invalidLine = (
  path: string,
  line: number,
  why: string,
  cause?: unknown
): Effect.Effect<never, RagError> => {
  const message = `Line ${line} of ${path} is not valid: ${why.replaceAll(/\s+/g, " ")}. Fix the line.`
  return Effect.fail(new RagError({ stage: "evaluate", reason: "Malformed", message, cause }))
}
