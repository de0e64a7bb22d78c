/** Questions that a library's owner wrote, one JSON object per line. */
import { Effect, Schema, type Stream } from "effect"
import { escape } from "effect/RegExp"
import type { Parsed, Span } from "../document/Document.ts"
import { RagError } from "../document/RagError.ts"
import { jsonLines } from "./JsonLines.ts"

/** A question and the place of its answer: a document, a page of it, or a text in it. The most exact place counts. */
export const LibraryQuestion = Schema.Struct({
  question: Schema.NonEmptyString,
  /** The document's path. */
  document: Schema.NonEmptyString,
  page: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  /** Exact, except for white space. */
  text: Schema.optionalKey(Schema.NonEmptyString)
})
export type LibraryQuestion = typeof LibraryQuestion.Type

export const questionsOf = (path: string): Stream.Stream<LibraryQuestion, RagError> =>
  jsonLines(path, LibraryQuestion)

/** The span of the answer: the text, the page, or the whole document. */
export const answerSpan = (
  { document, page, question, text }: LibraryQuestion,
  parsed: Parsed
): Effect.Effect<Span, RagError> => {
  const from = page === undefined ? undefined : parsed.pages.find(({ number }) => number === page)
  const missing = (what: string) => {
    const message = `${document} has no ${what}, which "${question}" asks for. Fix the question.`
    return Effect.fail(new RagError({ stage: "evaluate", reason: "Malformed", message, document }))
  }
  if (page !== undefined && from === undefined) return missing(`page ${page}`)
  const within: Span = from ?? { start: 0, end: parsed.text.length }
  if (text === undefined) return Effect.succeed(within)
  const pattern = new RegExp(text.trim().split(/\s+/).map(escape).join("\\s+"), "u")
  const found = pattern.exec(parsed.text.slice(within.start, within.end))
  if (found === null) return missing(`text “${text}”${page === undefined ? "" : ` on page ${page}`}`)
  const start = within.start + found.index
  return Effect.succeed({ start, end: start + found[0].length })
}
