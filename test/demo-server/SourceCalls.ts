/** Sources as a caller sees them. */
import { assert } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { type SourceInfo, SourceList } from "../../apps/demo-server/src/contract/index.ts"
import type { CallOptions, TestServer } from "./TestServer.ts"

type Server = Pick<TestServer["Service"], "call" | "json">

const Documents = Schema.Struct({ documents: Schema.Array(Schema.Struct({ path: Schema.String })) })

export const Jobs = Schema.Struct({ jobs: Schema.Array(Schema.Struct({ id: Schema.String })) })

export const pathsOf = ({ json }: Server, options?: CallOptions, query = "") =>
  Effect.map(json(Documents, `/documents${query}`, options), ({ documents }) =>
    documents.map(({ path }) => path)
  )
export const sourcesOf = ({ json }: Server, options?: CallOptions) =>
  Effect.map(json(SourceList, "/sources", options), ({ sources }) => sources)

/** Asks until it holds: the state is in the database, which tells nobody. */
export const until = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (value: A) => boolean) =>
  ask.pipe(
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: holds }),
    Effect.timeout("30 seconds"),
    Effect.orDie
  )
/** The only source, once it is so. */
export const source = (server: Server, holds: (source: SourceInfo) => boolean, options?: CallOptions) =>
  Effect.map(
    until(sourcesOf(server, options), ([one]) => one !== undefined && holds(one)),
    ([one]) => one!
  )
export const isIn =
  (...states: ReadonlyArray<SourceInfo["state"]>) =>
  ({ state }: SourceInfo) =>
    states.includes(state)

export const added = Effect.fnUntraced(function* (
  { call }: Server,
  json: unknown,
  options: CallOptions = {}
) {
  const response = yield* call("/sources", { ...options, json })
  const body = (yield* Effect.promise(() => response.json())) as SourceInfo
  assert.strictEqual(response.status, 200, JSON.stringify(body))
  return body
})
