/** Reading JSON that nobody vouches for. */
import { Predicate } from "effect"

/** What stands at a path, undefined when nothing does: `at(answer, "choices", 0, "message")`. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>((value, step) => {
    if (typeof step === "number") return Array.isArray(value) ? value[step] : undefined
    return Predicate.isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  }, value)

/** The list at a path; empty when there is none. */
export const listAt = (value: unknown, ...path: ReadonlyArray<string | number>): ReadonlyArray<unknown> => {
  const list = at(value, ...path)
  return Array.isArray(list) ? list : []
}

/** What is wrong, when it is: `fault(length === 3, "2 results")`. */
export const fault = (holds: boolean, otherwise: string): string | undefined =>
  holds ? undefined : otherwise
