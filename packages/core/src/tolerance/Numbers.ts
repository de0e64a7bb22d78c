/** Numbers that gateways send as text, and token counts that are not whole. */
import { Predicate } from "effect"

type Fields = Readonly<Record<string, unknown>>

const NUMERIC = /^\s*[+-]?\d+(\.\d+)?\s*$/

/** A number, or the number of a numeric text. */
export const numberOf = (value: unknown): number | undefined => {
  if (typeof value === "number") return value
  return typeof value === "string" && NUMERIC.test(value) ? Number(value) : undefined
}

/** The object with the numeric texts of these fields as numbers. Other texts are kept. */
export const withNumericTexts = (fields: Fields, names: ReadonlyArray<string>): Fields => {
  const given = names.filter((name) => typeof fields[name] === "string")
  if (given.length === 0) return fields
  return {
    ...fields,
    ...Object.fromEntries(given.map((name) => [name, numberOf(fields[name]) ?? fields[name]]))
  }
}

const COUNTS = ["prompt_tokens", "completion_tokens", "total_tokens"]

/** The usage with whole counts, rounded up; null for a count or a usage of another form. */
export const wholeUsage = (usage: unknown): Fields | null => {
  if (!Predicate.isObject(usage)) return null
  if (COUNTS.every((name) => usage[name] === undefined || Number.isInteger(usage[name]))) return usage
  const whole = COUNTS.filter((name) => name in usage).map((name) => {
    const count = numberOf(usage[name])
    return [name, count === undefined ? null : Math.ceil(count)]
  })
  return { ...usage, ...Object.fromEntries(whole) }
}
