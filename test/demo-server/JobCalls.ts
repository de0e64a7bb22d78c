/** Jobs as a caller sees them. */
import { assert } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { Job } from "../../apps/demo-server/src/contract/Documents.ts"
import { filesOf, type TestServer } from "./TestServer.ts"

type Server = Pick<TestServer["Service"], "call" | "json">

const ASYNC = { prefer: "respond-async" }
export const Documents = Schema.Struct({ total: Schema.Int })

export const files = (count: number, prefix = "") =>
  filesOf(
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        `${prefix}${i}.md`,
        `# Lock ${i}\n\nThe toll of lock ${i} is ${i + 3} crowns.`
      ])
    )
  )

export const submit = Effect.fnUntraced(function* (server: Server, path: string, body?: FormData) {
  const response = yield* server.call(path, { method: "POST", ...(body && { body }), headers: ASYNC })
  assert.strictEqual(response.status, 202)
  const job = Schema.decodeUnknownSync(Job)(yield* Effect.promise(() => response.json()))
  assert.strictEqual(response.headers.get("location"), `/jobs/${job.id}`)
  return job
})

export const asSession = (server: Server): Server => ({
  call: (path, options) => server.call(path, { ...options, as: "session" }),
  json: (schema, path, options) => server.json(schema, path, { ...options, as: "session" })
})

/** The job once it has ended. */
export const ended = (server: Server, id: string) =>
  Effect.repeat(server.json(Job, `/jobs/${id}`), {
    schedule: Schedule.spaced("50 millis"),
    until: ({ status }) => status !== "queued" && status !== "running"
  }).pipe(Effect.timeout("30 seconds"), Effect.orDie)
