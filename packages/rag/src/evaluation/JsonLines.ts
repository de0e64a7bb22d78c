/** Text files of an evaluation, read line by line. Errors name the line. */
import { createReadStream } from "node:fs"
import { createInterface } from "node:readline"
import { Effect, Schema, Stream } from "effect"
import { RagError, type RagReason } from "../document/RagError.ts"

/** A failure of the stage `evaluate`. */
export const failEvaluation = (
  reason: RagReason,
  message: string,
  more: { readonly document?: string; readonly cause?: unknown } = {}
): Effect.Effect<never, RagError> =>
  Effect.fail(new RagError({ stage: "evaluate", reason, message, ...more }))

/** A file with one JSON value per line. */
export const jsonLines = <A>(path: string, schema: Schema.Codec<A, unknown>): Stream.Stream<A, RagError> => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return lines(path).pipe(
    Stream.mapEffect(({ number, text }) =>
      decode(text).pipe(Effect.catch((cause) => damagedLine(path, number, cause.message, cause)))
    )
  )
}

/** The lines of a text file that are not blank, with their numbers from 1. */
export const lines = (
  path: string
): Stream.Stream<{ readonly number: number; readonly text: string }, RagError> =>
  Stream.suspend(() =>
    Stream.fromAsyncIterable(
      createInterface({ input: createReadStream(path, "utf8"), crlfDelay: Infinity }),
      (cause) => unreadable(path, cause)
    )
  ).pipe(
    Stream.zipWithIndex,
    // Editors on Windows put a byte order mark first.
    Stream.map(([text, index]) => ({
      number: index + 1,
      text: index === 0 ? text.replace(/^\uFEFF/, "") : text
    })),
    Stream.filter(({ text }) => text.trim() !== "")
  )

const unreadable = (path: string, cause: unknown): RagError =>
  new RagError({
    stage: "evaluate",
    reason: (cause as NodeJS.ErrnoException).code === "ENOENT" ? "NotFound" : "Store",
    message: `${path} cannot be read. A collection is a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv or qrels.tsv. Questions are a file with one JSON object per line (\`--questions FILE\`).`,
    cause
  })

/** A line in the wrong format. */
export const damagedLine = (path: string, line: number, why: string, cause?: unknown) =>
  failEvaluation(
    "Malformed",
    `Line ${line} of ${path} has the wrong format: ${why.replaceAll(/\s+/g, " ")}. Correct the line.`,
    { cause }
  )
