/** Runs an example. A failure prints one line with advice. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Config, Console, Data, Effect, Option } from "effect"

class MissingVariable extends Data.TaggedError("MissingVariable")<{ readonly message: string }> {}

/** A model id from the environment. */
export const modelIn = Effect.fnUntraced(function* (variable: string) {
  const model = yield* Config.option(Config.NonEmptyString(variable))
  if (Option.isSome(model)) return model.value
  const message = `${variable} is not set: set it to a model of GET /v1/models`
  return yield* new MissingVariable({ message })
})

const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  // A defect is printed with its stack.
  return Cause.hasFails(cause) && error instanceof Error
    ? error.message.replaceAll(/\s+/g, " ")
    : Cause.pretty(cause)
}

export const run = <A, E>(program: Effect.Effect<A, E>): void =>
  NodeRuntime.runMain(
    Effect.tapCause(program, (cause) => Console.error(messageOf(cause))),
    { disableErrorReporting: true }
  )
