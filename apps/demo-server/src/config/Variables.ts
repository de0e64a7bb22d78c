/** Reading and checking environment variables. */
import { Config, Effect, Option } from "effect"
import { StartError } from "./StartError.ts"

/** A variable; undefined if it is unset. */
export const optionalVariable = <A>(variable: Config.Config<A>) =>
  Config.map(Config.option(variable), Option.getOrUndefined)

/** A text variable; undefined if it is unset or blank. */
export const textVariable = (name: string) =>
  Config.map(optionalVariable(Config.String(name)), (value) => (value?.trim() === "" ? undefined : value))

export const invalidVariable = (message: string): Effect.Effect<never, StartError> =>
  Effect.fail(new StartError({ message }))

/** A variable with two possible values. */
export const eitherOf = <const A extends string>(
  name: string,
  value: string,
  allowed: readonly [A, A]
): Effect.Effect<A, StartError> => {
  const found = allowed.find((one) => one === value)
  return found !== undefined
    ? Effect.succeed(found)
    : invalidVariable(`${name} must be \`${allowed[0]}\` or \`${allowed[1]}\``)
}

export const isHttpUrl = (text: string): boolean =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
