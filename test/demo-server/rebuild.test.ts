/** An existing library with another embedding model: the server starts, reports it, and rebuilds on request. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder } from "@sluice/core"
import { ErrorBody } from "@sluice/core/contract"
import * as Embedded from "@sluice/embedded"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Deferred, Effect, Layer, Option, Schedule, Schema } from "effect"
import { Command } from "effect/cli"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import {
  AnswerBody,
  costAndTime,
  DocumentInfoSchema,
  IngestStreamEvent,
  IngestReportBody,
  RebuildPlanBody,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { planRebuilds, rebuildAll } from "../../apps/demo-server/src/cli/commands/Rebuild.ts"
import { settingsLayer } from "../../apps/demo-server/src/cli/library/OpenLibrary.ts"
import { sluice } from "../../apps/demo-server/src/cli/Sluice.ts"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { bearer, MadeKey, MadeUser, Self } from "./AccountCalls.ts"
import { ageCollections, chunkersOf } from "./CollectionsTable.ts"
import { asSession, ended, files, submit } from "./JobCalls.ts"
import { filesOf, startServer, temporaryFolder } from "./TestServer.ts"

const List = Schema.Struct({ documents: Schema.Array(DocumentInfoSchema) })

/** The same model as one that has to be paid. */
const paid = Layer.effect(
  Embedder,
  Effect.map(Embedder, (embedder) => Embedder.of({ ...embedder, model: { ...embedder.model, free: false } }))
).pipe(Layer.provideMerge(Embedded.layer))

/** The same model under another name, which the library treats as another model. */
const renamed = Layer.effect(
  Embedder,
  Effect.map(Embedder, (embedder) =>
    Embedder.of({ ...embedder, model: { ...embedder.model, id: "another-embedder" } })
  )
).pipe(Layer.provideMerge(Embedded.layer))

const question = "When does the last ferry to the island leave?"

describe("another embedding model", () => {
  it.live("is a 409 until a rebuild, and no document is lost", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { json } = yield* startServer({ data })
          const body = filesOf({
            "ferry.md": "# Ferry\n\nThe last ferry to the island leaves at nine in the evening.\n"
          })
          assert.strictEqual((yield* json(IngestReportBody, "/documents", { body })).added, 1)
        })
      )
      const server = yield* startServer({ data, models: renamed })
      const before = yield* server.json(ServerStatus, "/status", { as: "session" })
      assert.strictEqual(before.state, "rebuild-needed")
      assert.include(before.message, "another-embedder")
      assert.include(before.message, "`POST /rebuild`")
      assert.notInclude(before.message, "Library.rebuild")
      assert.strictEqual(before.documents, 1)
      assert.strictEqual(before.passages, 1)
      assert.isAtLeast(before.storage?.used ?? 0, 8192)
      // Only the library is unavailable, not the server.
      const ready = yield* server.call("/readyz", { as: "none" })
      assert.strictEqual(ready.status, 200)
      assert.include(yield* Effect.promise(() => ready.text()), "need `POST /rebuild`")
      for (const accept of ["application/json", "text/event-stream"]) {
        const refused = yield* server.call("/qa", { as: "session", json: { question }, headers: { accept } })
        assert.strictEqual(refused.status, 409)
      }
      const { error } = yield* server.json(ErrorBody, "/qa", { as: "session", json: { question } })
      assert.strictEqual(error.code, "manifest_mismatch")
      assert.include(error.message, "`POST /rebuild`")

      const quota = Effect.map(
        server.json(Self, "/api/user/self", { as: "session" }),
        ({ data }) => data.quota
      )
      const had = yield* quota
      const plan = yield* server.json(RebuildPlanBody, "/rebuild", { as: "session", method: "GET" })
      assert.deepInclude(plan, { documents: 1, passages: 1, texts: 1, cached: 0, free: true })
      assert.isAbove(plan.cost?.estimated ?? 0, 0)
      assert.isAtLeast(plan.seconds ?? -1, 0)
      assert.match(costAndTime(plan), /^free \(\$[\d.]+ of demo credit\); /)
      assert.strictEqual(yield* quota, had)

      const events = yield* server.events(IngestStreamEvent, "/rebuild", { as: "session", method: "POST" })
      assert.strictEqual(events.at(-1)?.type, "done")
      const after = yield* server.json(ServerStatus, "/status")
      assert.strictEqual(after.state, "ready")
      const answer = yield* server.json(AnswerBody, "/qa", { as: "session", json: { question } })
      assert.include(answer.answer, "nine in the evening")
    }).pipe(Effect.scoped)
  )
})

/** Another model, which waits for `go` before it embeds passages. */
const waiting = (go: Deferred.Deferred<void>) =>
  Layer.effect(
    Embedder,
    Effect.map(Embedder, (embedder) =>
      Embedder.of({
        ...embedder,
        model: { ...embedder.model, id: "waiting-embedder" },
        embed: (texts, purpose) =>
          Effect.andThen(
            purpose === "passage" ? Deferred.await(go) : Effect.void,
            embedder.embed(texts, purpose)
          )
      })
    )
  ).pipe(Layer.provideMerge(Embedded.layer))

describe("a rebuild after a restart", () => {
  it.live("is what a refused question and the status speak of, with its progress", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { json } = yield* startServer({ data })
          yield* json(IngestReportBody, "/documents", { body: files(3) })
        })
      )
      const go = yield* Deferred.make<void>()
      const server = asSession(yield* startServer({ data, models: waiting(go) }))
      const job = yield* submit(server, "/rebuild")
      const running = yield* Effect.repeat(server.json(ServerStatus, "/status"), {
        schedule: Schedule.spaced("50 millis"),
        until: ({ message, state }) => state === "rebuilding" && message?.includes("of 3") === true
      })
      assert.include(running.message, "is being rebuilt: 0 of 3 documents are done")
      const refused = yield* server.call("/qa", { json: { question } })
      assert.strictEqual(refused.status, 409)
      const { error } = Schema.decodeUnknownSync(ErrorBody)(yield* Effect.promise(() => refused.json()))
      assert.strictEqual(error.code, "manifest_mismatch")
      assert.strictEqual(error.message, running.message)
      assert.notInclude(error.message, "Rebuild now")
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual((yield* ended(server, job.id)).status, "completed")
      const toll = { question: "What is the toll of lock 2?" }
      assert.include((yield* server.json(AnswerBody, "/qa", { json: toll })).answer, "5 crowns")
    }).pipe(Effect.scoped)
  )
})

describe("collections of another version", () => {
  const ferry = "# Ferry\n\nThe last ferry to the island leaves at nine in the evening.\n"

  it.live("stay readable, and are made again in the background without charge", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const upload = (query: string) => ({ body: filesOf({ "ferry.md": ferry }), path: `/documents${query}` })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { json } = yield* startServer({ data })
          for (const query of ["", "?collection=other"]) {
            const { body, path } = upload(query)
            yield* json(IngestReportBody, path, { body })
          }
        })
      )
      yield* ageCollections(join(data, "library"))
      const server = yield* startServer({ data })
      // Its credentials were printed at the first start.
      const as = "session"
      const quota = Effect.map(server.json(Self, "/api/user/self", { as }), ({ data }) => data.quota)
      const had = yield* quota
      for (const collection of ["default", "other"]) {
        const listed = yield* server.json(List, `/documents?collection=${collection}`, { as })
        const id = listed.documents[0]?.id
        const file = yield* server.call(`/documents/${id}/file?collection=${collection}`, { as })
        assert.strictEqual(yield* Effect.promise(() => file.text()), ferry)
      }
      yield* Effect.repeat(chunkersOf(join(data, "library")), {
        schedule: Schedule.spaced("50 millis"),
        until: (names) => names.every((name) => name !== "headings-0")
      })
      assert.strictEqual(yield* quota, had)
      for (const collection of ["default", "other"]) {
        const answer = yield* server.json(AnswerBody, "/qa", { as, json: { question, collection } })
        assert.include(answer.answer, "nine in the evening")
      }
      assert.strictEqual((yield* server.json(ServerStatus, "/status", { as })).state, "ready")
    }).pipe(Effect.scoped)
  )

  it.live("can be asked, added to and removed from before that, with a model that is paid", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const models = paid
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { json } = yield* startServer({ data, models })
          yield* json(IngestReportBody, "/documents", { body: filesOf({ "ferry.md": ferry }) })
        })
      )
      yield* ageCollections(join(data, "library"))
      const server = yield* startServer({ data, models })
      const as = "session"
      const answer = yield* server.json(AnswerBody, "/qa", { as, json: { question } })
      assert.include(answer.answer, "nine in the evening")
      const { added } = yield* server.json(IngestReportBody, "/documents", {
        as,
        body: filesOf({ "boats.md": "# Boats\n\nBoats leave two hours before high water.\n" })
      })
      assert.strictEqual(added, 1)
      const { documents } = yield* server.json(List, "/documents", { as })
      assert.lengthOf(documents, 2)
      yield* server.call(`/documents/${documents[0]?.id}`, { as, method: "DELETE" })
      assert.lengthOf((yield* server.json(List, "/documents", { as })).documents, 1)
      assert.deepStrictEqual(yield* chunkersOf(join(data, "library")), ["headings-0"])
      const events = yield* server.events(IngestStreamEvent, "/rebuild", { as, method: "POST" })
      assert.strictEqual(events.at(-1)?.type, "done")
      assert.notInclude(yield* chunkersOf(join(data, "library")), "headings-0")
    }).pipe(Effect.scoped)
  )
})

describe("an administrator", () => {
  const boats = "# Boats\n\nBoats leave two hours before high water.\n"

  /** Libraries of the owner and of another user, made with another model. The owner's second collection is current. */
  const outdated = Effect.gen(function* () {
    const data = yield* temporaryFolder
    const { owner, other } = yield* Effect.scoped(
      Effect.gen(function* () {
        const { call, json, secrets } = yield* startServer({ data, models: paid })
        const { data: user } = yield* json(MadeUser, "/api/user", {
          as: "token",
          json: { username: "ann", quota: 1000 }
        })
        const { data: key } = yield* json(MadeKey, "/api/token/", {
          ...bearer(user.access_token),
          json: { name: "k", expired_time: -1, remain_quota: 1000, subnet: "" }
        })
        yield* call("/documents", { body: filesOf({ "boats.md": boats }) })
        yield* call("/documents", { ...bearer(key.key), body: filesOf({ "boats.md": boats }) })
        return { owner: secrets.accessToken, other: user }
      })
    )
    const libraries = [join(data, "library"), join(data, "libraries", other.id)]
    yield* Effect.forEach(libraries, ageCollections)
    const chunkers = Effect.map(Effect.forEach(libraries, chunkersOf), (all) => all.flat())
    return { chunkers, data, other, owner }
  })

  it.live("is told which collections could not be rebuilt with another embedding model", () =>
    Effect.gen(function* () {
      const { data } = yield* outdated
      yield* Effect.promise(() => rm(join(data, "library", "files.lance"), { recursive: true }))
      const config = ServerConfig.layer.pipe(Layer.provide(settingsLayer({ data: Option.some(data) })))
      const plan = yield* Effect.provide(planRebuilds(), [renamed, config, NodeServices.layer])
      assert.deepInclude(plan, { outdated: 2, documents: 2, passages: 2, free: true })
      assert.isDefined(plan.seconds)
      const { failed, ...done } = yield* Effect.provide(rebuildAll(), [renamed, config, NodeServices.layer])
      assert.deepInclude(done, { outdated: 2, rebuilt: 1 })
      assert.deepInclude(failed[0], { user: "owner", collection: "default", reason: "damaged" })
      assert.include(failed[0]?.message, "original of boats.md is missing")
    }).pipe(Effect.scoped)
  )

  it.live("rebuilds the collections of all users while the server runs, and nobody is charged", () =>
    Effect.gen(function* () {
      const { chunkers, data, other, owner } = yield* outdated
      const server = yield* startServer({ data, models: paid })
      const quotas = Effect.forEach([owner, other.access_token], (token) =>
        Effect.map(server.json(Self, "/api/user/self", bearer(token)), (self) => self.data.quota)
      )
      const before = yield* quotas
      const printed: Array<string> = []
      yield* Command.runWith(sluice, { version: "0" })(["rebuild", "--data", data, "--json"]).pipe(
        Effect.provideService(Console.Console, {
          ...globalThis.console,
          log: (text: string) => void printed.push(text)
        }),
        Effect.provide(NodeServices.layer)
      )
      assert.deepStrictEqual(JSON.parse(printed.join()), {
        outdated: 2,
        rebuilt: 2,
        documents: 2,
        failed: []
      })
      assert.notInclude(yield* chunkers, "headings-0")
      assert.deepStrictEqual(yield* quotas, before)
    }).pipe(Effect.scoped)
  )
})
