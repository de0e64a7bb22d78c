/** Runs an example. A failure prints one line with advice. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Config, Console, Data, Effect, Option } from "effect"

class Missing extends Data.TaggedError("Missing")<{ readonly message: string }> {}

/** A model id from the environment. */
export const modelIn = Effect.fnUntraced(function* (variable: string) {
  const model = yield* Config.option(Config.NonEmptyString(variable))
  if (Option.isSome(model)) return model.value
  const message = `${variable} is not set: it has to hold a model's name, as GET /v1/models lists them`
  return yield* new Missing({ message })
})

const told = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  // A defect is printed with its stack.
  return Cause.hasFails(cause) && error instanceof Error
    ? error.message.replaceAll(/\s+/g, " ")
    : Cause.pretty(cause)
}

export const run = <A, E>(program: Effect.Effect<A, E>): void =>
  NodeRuntime.runMain(
    Effect.tapCause(program, (cause) => Console.error(told(cause))),
    { disableErrorReporting: true }
  )
