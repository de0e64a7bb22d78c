/** Reading JSON that nobody vouches for. */

type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What stands at a path, undefined when nothing does: `at(answer, "choices", 0, "message")`. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>((value, step) => {
    if (typeof step === "number") return Array.isArray(value) ? value[step] : undefined
    return isFields(value) && Object.hasOwn(value, step) ? value[step] : undefined
  }, value)

/** The list at a path; empty when there is none. */
export const listAt = (value: unknown, ...path: ReadonlyArray<string | number>): ReadonlyArray<unknown> => {
  const list = at(value, ...path)
  return Array.isArray(list) ? list : []
}

/** The JSON of a text; undefined when it is none. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What is wrong, when it is: `fault(length === 3, "2 results")`. */
export const fault = (holds: boolean, otherwise: string): string | undefined =>
  holds ? undefined : otherwise
