/** What stands before each attempt of a client's calls: nothing, unless the program provides a layer of guards. */
import { Context, type Effect } from "effect"
import type { About } from "./About.ts"
import type { Answer, Problem } from "./Answer.ts"

/** Lets an attempt through, now or later, or refuses it. Time that it waits counts for the call, not for the attempt. */
export type Guard = <A>(
  attempt: Effect.Effect<Answer<A>, Problem>,
  about: About
) => Effect.Effect<Answer<A>, Problem>

/** The guards that a client takes when its layer is built; the first of them stands outermost. */
export const Guards = Context.Reference<ReadonlyArray<Guard>>("@sluice/core/Guards", {
  defaultValue: () => []
})
