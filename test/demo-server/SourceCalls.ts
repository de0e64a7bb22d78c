/** Sources as a caller sees them, and the tests that hold on each database. */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import {
  AnswerBody,
  type IngestReportBody,
  type SourceInfo,
  SourceList
} from "../../apps/demo-server/src/contract/index.ts"
import { testFolder } from "../rag/TestFolder.ts"
import { bearer, MadeKey, quotaOf } from "./AccountCalls.ts"
import type { NewStore } from "./Stores.ts"
import { type CallOptions, startServer, type TestServer } from "./TestServer.ts"

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

/** Folders and pushed records as sources. */
export const sourcesOn = (store: NewStore) => {
  it.live("a folder is read, charged, kept up to date, and removed with its documents", () =>
    Effect.gen(function* () {
      const { docs, remove, write } = yield* testFolder
      yield* write("docs/lock.md", "# Lock\n\nThe lock at Harlow opens at six in the morning.")
      yield* write("docs/sub/ferry.md", "# Ferry\n\nThe ferry leaves at noon.")
      yield* write("docs/broken.pdf", "no PDF")
      const api = yield* startServer({ env: { ...(yield* store), SLUICE_SOURCE_FOLDERS: docs } })
      const quota = yield* quotaOf(api)
      const { id } = yield* added(api, { address: docs, name: "handbook" })
      const first = yield* source(api, isIn("done", "failed"))
      assert.deepStrictEqual(
        [first.state, first.kind, first.report?.added, first.report?.failed.map(({ path }) => path)],
        ["done", "folder", 2, ["handbook/broken.pdf"]]
      )
      assert.isUndefined(first.nextRun)
      assert.isBelow(yield* quotaOf(api), quota)
      yield* write("docs/lock.md", "# Lock\n\nThe lock at Harlow opens at seven in the morning.")
      yield* remove("docs/sub/ferry.md")
      yield* api.call(`/sources/${id}/run`, { method: "POST" })
      const second = yield* source(api, ({ job, state }) => state === "done" && job !== first.job)
      assert.deepStrictEqual(second.changes, [
        { path: "handbook/lock.md", status: "replaced" },
        { path: "handbook/sub/ferry.md", status: "removed" }
      ])
      const { citations } = yield* api.json(AnswerBody, "/qa", {
        json: { question: "When does the lock at Harlow open?" }
      })
      assert.include(citations[0]?.quote, "at seven")
      assert.strictEqual((yield* api.call(`/sources/${id}`, { method: "DELETE" })).status, 204)
      assert.deepStrictEqual([yield* sourcesOf(api), yield* pathsOf(api)], [[], []])
    }).pipe(Effect.scoped)
  )

  it.live("a disabled key stops its source with the reason, and an enabled one starts it again", () =>
    Effect.gen(function* () {
      const { docs, write } = yield* testFolder
      yield* write("docs/a.md", "# A\n\nThe first text.")
      const api = yield* startServer({ env: { ...(yield* store), SLUICE_SOURCE_FOLDERS: docs } })
      const key = (yield* api.json(MadeKey, "/api/token/", {
        as: "token",
        json: { name: "syncing", expired_time: -1, remain_quota: 1_000_000, subnet: "" }
      })).data
      const change = (json: object) =>
        api.call("/api/token/", { as: "token", method: "PUT", json: { id: key.id, ...json } })
      const { id } = yield* added(api, { address: docs, name: "x" }, bearer(key.key))
      const session = { as: "session" } as const
      yield* source(api, isIn("done"), session)
      // A key sees what it has added.
      assert.deepStrictEqual(yield* sourcesOf(api), [])
      assert.strictEqual((yield* api.call(`/sources/${id}/run`, { method: "POST" })).status, 404)
      for (const [fault, mend] of [
        [{ documents: "read" }, { documents: "write" }],
        [{ status: 0 }, { status: 1 }]
      ] as const) {
        yield* change(fault)
        yield* write(`docs/b${Object.keys(fault)[0]}.md`, "# B\n\nAnother text.")
        const before = yield* pathsOf(api)
        yield* api.call(`/sources/${id}/run`, { ...session, method: "POST" })
        const { message, nextRun } = yield* source(api, isIn("stopped"), session)
        assert.match(message ?? "", /may not use the documents|may only read|disabled/)
        assert.isUndefined(nextRun)
        assert.deepStrictEqual(yield* pathsOf(api), before)
        yield* change(mend)
        yield* api.call(`/sources/${id}`, { ...session, method: "PUT", json: { paused: false } })
        yield* api.call(`/sources/${id}/run`, { ...session, method: "POST" })
        yield* until(pathsOf(api), ({ length }) => length === before.length + 1)
      }
      yield* api.call(`/api/token/${key.id}`, { as: "token", method: "DELETE" })
      yield* api.call(`/sources/${id}/run`, { ...session, method: "POST" })
      const { message } = yield* source(api, isIn("stopped"), session)
      assert.include(message, "was removed")
    }).pipe(Effect.scoped)
  )

  it.live("programs push records and remove them by their ids", () =>
    Effect.gen(function* () {
      const api = yield* startServer({ env: yield* store })
      const push = (json: object) =>
        Effect.flatMap(api.call("/records?collection=tickets", { json }), (response) =>
          Effect.promise(() => response.json() as Promise<IngestReportBody>)
        )
      const records = [
        {
          id: "t/1",
          title: "Lock",
          text: "The lock at Harlow opens at six.",
          url: "https://example.com/t/1",
          metadata: { team: "locks" }
        },
        { id: "t/2", passages: [{ text: "The ferry leaves at noon.", headings: ["Ferry"] }] }
      ]
      assert.deepInclude(yield* push({ records }), { added: 2, failed: [] })
      const { citations } = yield* api.json(AnswerBody, "/qa", {
        json: { question: "When does the lock at Harlow open?", collection: "tickets" }
      })
      assert.deepInclude(citations[0], { document: "t/1", url: "https://example.com/t/1" })
      const report = yield* push({ records: [{ id: "t/3" }], removed: ["t/2"] })
      assert.deepInclude(report, { removed: 1 })
      assert.strictEqual(report.failed[0]?.path, "t/3")
      assert.deepStrictEqual(yield* pathsOf(api, {}, "?collection=tickets"), ["t/1"])
    }).pipe(Effect.scoped)
  )
}
