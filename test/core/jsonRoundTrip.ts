/** A value after a JSON round trip. */

/**
 * A value as JSON has it: without -0 and undefined.
 *
 * Without `JSON.stringify`, because that of Node 24 sometimes writes a wrong key in place of one that it must escape.
 */
export const jsonRoundTrip = <A>(value: A): A => copy(value) as A

const copy = (value: unknown): unknown => {
  if (typeof value === "number") return value === 0 ? 0 : Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : copy(item)))
  if (typeof value !== "object" || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, copy(field)]))
}
