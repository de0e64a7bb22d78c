/** Recognizes the text in images with the `Vision` of the context. */
import type { RecognizedLine } from "@sluice/core/models"
import { Effect, Predicate } from "effect"
import { lineReader } from "./Readings.ts"

/** A model is given up after this many failures in a row. */
const MAX_FAILURES = 2

/** Strokes of a drawing are recognized as dashes and dots. */
const isReadable = ({ text }: RecognizedLine): boolean => /[\p{L}\p{N}]/u.test(text)

/** A recognizer for one document; undefined if no `Vision` with `read` is provided. */
export const textRecognizer = Effect.map(lineReader, (read) => {
  let failures = 0
  return read === undefined
    ? undefined
    : {
        hasGivenUp: () => failures >= MAX_FAILURES,
        /** The readable lines of an image, in reading order. A rejected image does not count as a failure. */
        recognize: <E extends { readonly reason: unknown }>(image: Effect.Effect<Uint8Array, E>) =>
          image.pipe(
            Effect.flatMap(read),
            Effect.tap(() => Effect.sync(() => (failures = 0))),
            Effect.tapError(({ reason }) =>
              Effect.sync(() => {
                if (!Predicate.isTagged(reason, "InvalidRequest")) failures++
              })
            ),
            Effect.map((lines) => lines.filter(isReadable))
          )
      }
})
