/** What programs without types may give in place of a text or a list: refused by a typed error, as all else is. */
import { Effect, Formatter } from "effect"
import { RagError, type Stage } from "./RagError.ts"

/** A text as the store can keep it: half a character becomes U+FFFD. */
export const givenText = (stage: Stage, name: string, text: string): Effect.Effect<string, RagError> =>
  typeof text === "string" ? Effect.succeed(text.toWellFormed()) : refused(stage, name, text, "a text")

export const givenList = <A>(
  stage: Stage,
  name: string,
  list: ReadonlyArray<A>
): Effect.Effect<ReadonlyArray<A>, RagError> =>
  Array.isArray(list) ? Effect.succeed(list) : refused(stage, name, list, "an array")

const refused = (
  stage: Stage,
  name: string,
  given: unknown,
  wanted: string
): Effect.Effect<never, RagError> =>
  Effect.fail(
    new RagError({ stage, reason: "Malformed", message: `${name} is ${shown(given)}. Give ${wanted}.` })
  )

/** What was given, as a message shows it. */
export const shown = (given: unknown): string => Formatter.format(given).slice(0, 200)
