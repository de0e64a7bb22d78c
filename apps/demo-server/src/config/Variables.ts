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

/** A whole number. `limits` says them where `from … to …` does not. */
export const wholeNumber = (
  name: string,
  text: string | number,
  least: number,
  most: number,
  limits = `from ${least} to ${most}`
): Effect.Effect<number, StartError> => {
  const number = /^\d+$/.test(`${text}`.trim()) ? Number(text) : Number.NaN
  return number >= least && number <= most
    ? Effect.succeed(number)
    : invalidVariable(`${name} must be a whole number ${limits}`)
}

const either = new Intl.ListFormat("en", { type: "disjunction" })

/** A variable with a few possible values. */
export const oneOf = <const A extends string>(
  name: string,
  value: string,
  allowed: ReadonlyArray<A>
): Effect.Effect<A, StartError> => {
  const found = allowed.find((one) => one === value)
  return found !== undefined
    ? Effect.succeed(found)
    : invalidVariable(`${name} must be ${either.format(allowed.map((one) => `\`${one}\``))}`)
}

export const isHttpUrl = (text: string): boolean =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
