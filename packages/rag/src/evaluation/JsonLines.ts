/** Text files of an evaluation, read line by line; what is wrong with one names the line. */
import { createReadStream } from "node:fs"
import { createInterface } from "node:readline"
import { Effect, Schema, Stream } from "effect"
import { RagError } from "../document/RagError.ts"

/** A file of JSON, one value a line. */
export const jsonLines = <A>(path: string, schema: Schema.Codec<A, unknown>): Stream.Stream<A, RagError> => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return lines(path).pipe(
    Stream.mapEffect(({ number, text }) =>
      decode(text).pipe(Effect.catch((cause) => damaged(path, number, cause.message, cause)))
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
    // Windows' editors begin a file with a mark that is no part of it.
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
    message: `${path} cannot be read. Collections are folders with corpus.jsonl, queries.jsonl and qrels/test.tsv or qrels.tsv; questions are a file of JSON, one object a line (\`--questions FILE\`).`,
    cause
  })

/** A line that is not what it should be. */
export const damaged = (
  path: string,
  line: number,
  why: string,
  cause?: unknown
): Effect.Effect<never, RagError> =>
  Effect.fail(
    new RagError({
      stage: "evaluate",
      reason: "Malformed",
      message: `Line ${line} of ${path} is not as its format wants it: ${why.replaceAll(/\s+/g, " ")}. Mend the line.`,
      ...(cause === undefined ? {} : { cause })
    })
  )
