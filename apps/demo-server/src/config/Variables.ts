/** Reading and checking environment variables. */
import { Config, Effect, Option, Redacted } from "effect"
import { readFile } from "node:fs/promises"
import { StartError } from "./StartError.ts"

/** A variable; undefined if it is unset. */
export const optionalVariable = <A>(variable: Config.Config<A>) =>
  Config.map(Config.option(variable), Option.getOrUndefined)

/** A text variable; undefined if it is unset or blank. */
export const textVariable = (name: string) =>
  Config.map(optionalVariable(Config.String(name)), (value) => (value?.trim() === "" ? undefined : value))

export const invalidVariable = (message: string): Effect.Effect<never, StartError> =>
  Effect.fail(new StartError({ message }))

/**
 * A secret, which may be in a file, as containers mount it: `NAME_FILE` is the path of a file with the value of `NAME`. Fails
 * where both are set, because it is not clear which one counts, and for an empty file.
 */
const secretText = Effect.fnUntraced(function* (name: string) {
  const value = yield* textVariable(name)
  const path = yield* textVariable(`${name}_FILE`)
  if (path === undefined) return value
  if (value !== undefined) return yield* invalidVariable(`${name} and ${name}_FILE are both set. Unset one`)
  const unreadable = new StartError({ message: `${name}_FILE names a file that cannot be read: ${path}` })
  const secret = yield* Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: () => unreadable })
  return secret.trim() === "" ? yield* invalidVariable(`${name}_FILE names an empty file`) : secret.trim()
})

/** A text variable as a value. `parse` gives undefined for a text that is not `expected`; the message does not repeat it. */
export const parsedVariable = <A, Default extends A | undefined = undefined>(
  name: string,
  expected: string,
  parse: (text: string) => A | undefined,
  otherwise?: Default,
  read: (name: string) => Effect.Effect<string | undefined, Config.ConfigError | StartError> = textVariable
) =>
  Effect.flatMap(read(name), (text): Effect.Effect<A | Default, StartError> => {
    if (text === undefined) return Effect.succeed(otherwise as Default)
    const value = parse(text)
    return value === undefined ? invalidVariable(`${name} must ${expected}`) : Effect.succeed(value)
  })

/** A secret as a value. */
export const parsedSecret = <A>(name: string, expected: string, parse: (text: string) => A | undefined) =>
  parsedVariable(name, expected, parse, undefined, secretText)

/** A secret of any form. */
export const secretVariable = (name: string) => parsedSecret(name, "be a text", (text) => Redacted.make(text))

/** A whole number. `limits` says them where `from … to …` does not. */
export const wholeNumber = <Default extends number | undefined>(
  name: string,
  otherwise: Default,
  least: number,
  most: number,
  limits = `from ${least} to ${most}`
) =>
  parsedVariable(
    name,
    `be a whole number ${limits}`,
    (text) => {
      const number = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN
      return number >= least && number <= most ? number : undefined
    },
    otherwise
  )

const either = new Intl.ListFormat("en", { type: "disjunction" })

/** A variable with a few possible values. */
export const oneOf = <const A extends string, Default extends A | undefined>(
  name: string,
  otherwise: Default,
  allowed: ReadonlyArray<A>
) =>
  parsedVariable(
    name,
    `be ${either.format(allowed.map((one) => `\`${one}\``))}`,
    (text) => allowed.find((one) => one === text),
    otherwise
  )

export const isHttpUrl = (text: string): boolean =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

export const urlVariable = (name: string, example: string) =>
  parsedVariable(name, `be an http or https address such as ${example}`, (text) =>
    isHttpUrl(text) ? text : undefined
  )
