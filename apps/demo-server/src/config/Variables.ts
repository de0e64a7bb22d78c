/** Reading and checking environment variables. */
import { Config, Effect, Option } from "effect"
import { StartError } from "./StartError.ts"

/** A text variable; undefined if it is unset or blank. */
export const textVariable = (name: string) =>
  Config.String(name).pipe(
    Config.option,
    Config.map(Option.filter((value) => value.trim() !== "")),
    Config.map(Option.getOrUndefined)
  )

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
