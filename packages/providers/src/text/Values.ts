/** Values in JSON of unknown form. */
import { Predicate } from "effect"
import type { Fields } from "../protocol/Dialect.ts"

/** The value at a path of names and positions; undefined if there is none. */
export const jsonAt = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (at, step) =>
      Predicate.isObject(at) || Array.isArray(at) ? (at as Record<string, unknown>)[step] : undefined,
    value
  )

export const itemsAt = (value: unknown, ...path: ReadonlyArray<string | number>): ReadonlyArray<unknown> => {
  const found = jsonAt(value, ...path)
  return Array.isArray(found) ? found : []
}

export const textAt = (value: unknown, ...path: ReadonlyArray<string | number>): string | undefined => {
  const found = jsonAt(value, ...path)
  return typeof found === "string" ? found : undefined
}

export const numberAt = (value: unknown, ...path: ReadonlyArray<string | number>): number | undefined => {
  const found = jsonAt(value, ...path)
  return typeof found === "number" ? found : undefined
}

/** Where vendors count the tokens of texts to embed or to rank. */
const TOKENS = [
  ["usage", "total_tokens"],
  ["meta", "billed_units", "input_tokens"],
  ["usageMetadata", "promptTokenCount"]
]

export const tokensIn = (body: unknown): number | undefined =>
  TOKENS.map((path) => numberAt(body, ...path)).find((count) => count !== undefined)

/** The fields that have a value. */
export const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
