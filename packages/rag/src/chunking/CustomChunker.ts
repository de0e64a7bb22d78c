/** A chunker of the program's own, in place of the built-in one. */
import { Context, Effect } from "effect"
import type { Parsed, PassageSpan } from "../document/Document.ts"
import { RagError } from "../document/RagError.ts"

/**
 * Cuts a document into passages, in the calling thread.
 *
 * **Details.** `id` is recorded in the manifest of a collection: change it if the passages of any document change. `start`
 * and `end` are offsets of `parsed.text`; passages may overlap. Figures keep no crop of their own then.
 */
export interface DocumentChunker {
  readonly id: string
  readonly chunk: (parsed: Parsed) => ReadonlyArray<PassageSpan>
}

/**
 * The chunker of a library, taken from the context in which it is opened. Undefined is the built-in one, which cuts at
 * headings.
 *
 * ```ts
 * Layer.succeed(Chunker, { id: "sentences-1", chunk: ({ text }) => sentencesOf(text) })
 * ```
 */
export const Chunker = Context.Reference<DocumentChunker | undefined>("@sluice/rag/Chunker", {
  defaultValue: () => undefined
})

/** The document with the passages of the program's chunker, if there is one, and it brings none itself. */
export const withCustomPassages = Effect.fnUntraced(function* (path: string, parsed: Parsed) {
  const chunker = yield* Chunker
  if (chunker === undefined || parsed.passages !== undefined) return parsed
  const failed = (why: string, cause?: unknown) =>
    new RagError({
      stage: "ingest",
      reason: "Malformed",
      message: `${path}: the chunker ${chunker.id} ${why}. Correct it, and ingest again.`,
      document: path,
      cause
    })
  const passages = yield* Effect.try({
    try: () => chunker.chunk(parsed),
    catch: (cause) => failed(`failed: ${String(cause)}`, cause)
  })
  if (!Array.isArray(passages) || passages.length === 0) return yield* failed("gave no passages")
  const isInside = (span: PassageSpan) => {
    const { end, start } = Object(span) as PassageSpan
    return (
      Number.isInteger(start) &&
      Number.isInteger(end) &&
      0 <= start &&
      start < end &&
      end <= parsed.text.length
    )
  }
  if (!passages.every(isInside)) return yield* failed("gave a passage outside of the text")
  return { ...parsed, passages }
})
