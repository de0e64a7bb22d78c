/** Checks arguments of programs without types: a wrong one fails with `Malformed`. */
import { Effect, Formatter } from "effect"
import { RagError, type Stage } from "./RagError.ts"

const malformed = (stage: Stage, name: string, value: unknown, expected: string) => {
  const message = `${name} is ${formatValue(value)}; expected ${expected}.`
  return Effect.fail(new RagError({ stage, reason: "Malformed", message }))
}

/** Requires a string, and replaces lone surrogates by U+FFFD: the store cannot keep them. */
export const requireText = (stage: Stage, name: string, text: string): Effect.Effect<string, RagError> =>
  typeof text === "string" ? Effect.succeed(text.toWellFormed()) : malformed(stage, name, text, "a string")

export const requireQuestion = (question: unknown): Effect.Effect<void, RagError> => {
  if (typeof question !== "string") return malformed("retrieve", "The question", question, "a text")
  const message = "The question is empty. Ask in a sentence or in a few words."
  return question.trim() === ""
    ? Effect.fail(new RagError({ stage: "retrieve", reason: "Empty", message }))
    : Effect.void
}

export const requireArray = <A>(
  stage: Stage,
  name: string,
  list: ReadonlyArray<A>
): Effect.Effect<ReadonlyArray<A>, RagError> =>
  Array.isArray(list) ? Effect.succeed(list) : malformed(stage, name, list, "an array")

/** A value as an error message quotes it, at most 200 characters. */
export const formatValue = (value: unknown): string => Formatter.format(value).slice(0, 200)
