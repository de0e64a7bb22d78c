/** Leaves absent fields out of an object. */
import { Predicate, Record } from "effect"

type Optional<A> = { [K in keyof A]: undefined extends A[K] ? K : never }[keyof A]

/** The fields that are not undefined. */
export const definedFields = <A extends object>(
  fields: A
): Omit<A, Optional<A>> & { readonly [K in Optional<A>]?: Exclude<A[K], undefined> } =>
  Record.filter(fields as { readonly [name: string]: unknown }, Predicate.isNotUndefined) as never
