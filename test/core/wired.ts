/** What is left of a value on the wire. */

/**
 * A value as JSON has it: without -0, and without what is undefined.
 *
 * Not by way of a text: `JSON.stringify` of Node 24 now and then writes another key in place of one that it has to escape.
 */
export const wired = <A>(value: A): A => copy(value) as A

const copy = (value: unknown): unknown => {
  if (typeof value === "number") return value === 0 ? 0 : Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : copy(item)))
  if (typeof value !== "object" || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, copy(field)]))
}
