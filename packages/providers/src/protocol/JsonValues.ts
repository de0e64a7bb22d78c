/** Values in JSON of unknown form. */
import { Predicate, Record } from "effect"
import type { Fields } from "./Dialect.ts"

type Path = ReadonlyArray<string | number>

/** The value at a path of names and positions; undefined if there is none. */
export const jsonAt = (value: unknown, ...path: Path): unknown =>
  path.reduce<unknown>(
    (at, step) =>
      Predicate.isObject(at) || Array.isArray(at) ? (at as Record<string, unknown>)[step] : undefined,
    value
  )

const valueAt =
  <A>(is: (found: unknown) => found is A) =>
  (value: unknown, ...path: Path): A | undefined => {
    const found = jsonAt(value, ...path)
    return is(found) ? found : undefined
  }

export const textAt = valueAt(Predicate.isString)
export const numberAt = valueAt(Predicate.isNumber)
const listAt = valueAt<ReadonlyArray<unknown>>(Array.isArray)

/** The items of the list at a path; none if there is no list. */
export const itemsAt = (value: unknown, ...path: Path) => listAt(value, ...path) ?? []

export const nonEmptyText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** Where vendors count the tokens of texts to embed or to rank. */
const TOKENS = [
  ["usage", "total_tokens"],
  ["meta", "billed_units", "input_tokens"],
  ["tokens", "input_tokens"],
  ["usageMetadata", "promptTokenCount"]
]

/** The usage in the interface's form; undefined if the vendor does not count. */
export const usageIn = (body: unknown): Fields | undefined => {
  const tokens = TOKENS.map((path) => numberAt(body, ...path)).find((count) => count !== undefined)
  return tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens }
}

/** The fields that have a value. */
export const present = (fields: Fields): Fields => Record.filter(fields, Predicate.isNotNullish)
