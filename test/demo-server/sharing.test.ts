/** Collections shared with members: what each may do, who pays, and what is left after a removal. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../apps/demo-server/src/accounts/Audit.ts"
import {
  AnswerBody,
  CollectionInfo,
  DocumentsPage,
  IngestReportBody,
  MemberList,
  RetrievalBody,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { Members } from "../../apps/demo-server/src/sharing/Members.ts"
import { bearer, MadeKey, MadeUser, Self } from "./AccountCalls.ts"
import { sums } from "./Equation.ts"
import { addUser, ledgerIn } from "./LedgerIn.ts"
import { onStore } from "./Stores.ts"
import { type CallOptions, filesOf, startServer, temporaryFolder, type TestServer } from "./TestServer.ts"

type Server = TestServer["Service"]
const Collections = Schema.Struct({ collections: Schema.Array(CollectionInfo) })
const Models = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })
const Refusal = Schema.Struct({ error: Schema.Struct({ message: Schema.String, code: Schema.String }) })
const Chat = Schema.Struct({
  choices: Schema.Array(
    Schema.Struct({
      message: Schema.Struct({
        content: Schema.String,
        annotations: Schema.Array(Schema.Struct({ url_citation: Schema.Struct({ url: Schema.String }) }))
      })
    })
  )
})
const QUOTA = 100_000
const SHARED = "harbour@owner"
const question = "How much does mooring a boat overnight cost?"
const rules = (fee: string) => `# Harbour rules\n\nMooring a boat overnight costs ${fee} crowns.\n`

/** A user with a key that may do everything, and the calls of that user. */
const makeUser = Effect.fn(function* (server: Server, username: string) {
  const { call, json } = server
  const given = { as: "token", json: { username, quota: QUOTA } } as const
  const { access_token, id } = (yield* json(MadeUser, "/api/user", given)).data
  const key = { name: "k", expired_time: -1, remain_quota: QUOTA, subnet: "" }
  const made = yield* json(MadeKey, "/api/token/", { ...bearer(access_token), json: key })
  const as = (options: CallOptions = {}): CallOptions => {
    const { as, headers } = bearer(made.data.key)
    return { ...options, as, headers: { ...options.headers, ...headers } }
  }
  return {
    id,
    username,
    json: <S extends Schema.ConstraintDecoder<unknown>>(schema: S, path: string, options?: CallOptions) =>
      json(schema, path, as(options)),
    status: (path: string, options?: CallOptions) =>
      Effect.map(call(path, as(options)), ({ status }) => status),
    code: (path: string, options?: CallOptions) =>
      Effect.map(json(Refusal, path, as(options)), ({ error }) => error.code),
    quota: Effect.map(json(Self, "/api/user/self", bearer(access_token)), ({ data }) => data.quota)
  }
})

const setMembers = (server: Server, members: ReadonlyArray<object>) =>
  server.json(MemberList, "/collections/harbour/members", { method: "PUT", json: { members } })

/** The owner's collection `harbour` with a document, shared with a reader and a writer. */
const makeShared = Effect.fn(function* (env: Record<string, string>, data?: string) {
  const server = yield* startServer({ env, ...(data !== undefined && { data }) })
  const [reader, writer, stranger] = yield* Effect.all([
    makeUser(server, "Ann"),
    makeUser(server, "Ben"),
    makeUser(server, "Eve")
  ])
  const body = filesOf({ "rules.md": rules("twelve") })
  yield* server.json(IngestReportBody, "/documents?collection=harbour", { body })
  yield* setMembers(server, [
    { user: "Ann", access: "read" },
    { user: "Ben", access: "write" }
  ])
  return { reader, server, stranger, writer }
})

onStore((store) => {
  it.live("files of a member's job that waits count for the owner's storage", () =>
    Effect.gen(function* () {
      const { server, writer } = yield* makeShared({
        ...(yield* store),
        SLUICE_JOBS: "0",
        SLUICE_STORAGE_MB: "1"
      })
      const upload = writer.status(`/documents?collection=${SHARED}`, {
        body: filesOf({ "long.md": rules("twelve").padEnd(600_000) }),
        headers: { prefer: "respond-async" }
      })
      assert.strictEqual(yield* upload, 202)
      assert.isAbove((yield* server.json(ServerStatus, "/status")).storage?.used ?? 0, 600_000)
      assert.isBelow((yield* writer.json(ServerStatus, "/status")).storage?.used ?? 0, 600_000)
      assert.strictEqual(yield* upload, 413)
    }).pipe(Effect.scoped)
  )

  it.live("a member sees a shared collection beside an own one of the same name", () =>
    Effect.gen(function* () {
      const { reader, server, stranger } = yield* makeShared(yield* store)
      const body = filesOf({ "rules.md": rules("ninety") })
      yield* reader.json(IngestReportBody, "/documents?collection=harbour", { body })
      const listed = (yield* reader.json(Collections, "/collections")).collections
      assert.deepInclude(listed, { name: "harbour", documents: 1, passages: 1 })
      assert.deepInclude(listed, {
        name: SHARED,
        documents: 1,
        passages: 1,
        shared: { owner: "owner", access: "read" }
      })
      const own = (yield* server.json(Collections, "/collections")).collections
      assert.deepInclude(own, { name: "harbour", documents: 1, passages: 1, members: 2 })
      const names = Effect.map(stranger.json(Collections, "/collections"), ({ collections }) =>
        collections.map(({ name }) => name)
      )
      assert.deepStrictEqual(yield* names, ["default"])

      const ask = (collection: string) => reader.json(AnswerBody, "/qa", { json: { question, collection } })
      const answer = yield* ask(SHARED)
      assert.include(answer.answer, "twelve")
      assert.strictEqual(answer.trace.collection, SHARED)
      assert.include((yield* ask("harbour")).answer, "ninety")
      const { passages } = yield* reader.json(RetrievalBody, "/retrieve", {
        json: { question, collection: SHARED }
      })
      assert.include(passages[0]?.text, "twelve")

      const models = (yield* reader.json(Models, "/v1/models")).data.map(({ id }) => id)
      assert.includeMembers(models, ["sluice/harbour", `sluice/${SHARED}`])
      const messages = [{ role: "user", content: question }]
      const chat = yield* reader.json(Chat, "/v1/chat/completions", {
        json: { model: `sluice/${SHARED}`, messages }
      })
      const { annotations, content } = chat.choices[0]?.message ?? assert.fail("no answer")
      assert.include(content, "twelve")
      const { pathname, search } = new URL(annotations[0]?.url_citation.url ?? "")
      assert.strictEqual(yield* reader.status(pathname + search), 200)
      assert.strictEqual(yield* stranger.status(pathname + search), 404)
    }).pipe(Effect.scoped)
  )

  it.live("a reader changes nothing, a writer changes documents, and only the owner changes members", () =>
    Effect.gen(function* () {
      const { reader, server, stranger, writer } = yield* makeShared(yield* store)
      const into = `/documents?collection=${SHARED}`
      const upload = () => ({ body: filesOf({ "prices.md": rules("nine") }) })
      assert.strictEqual(yield* reader.code(into, upload()), "read_only")
      assert.strictEqual(yield* stranger.status(into, upload()), 404)
      assert.deepInclude(yield* writer.json(IngestReportBody, into, upload()), { added: 1 })
      const { documents } = yield* reader.json(DocumentsPage, into)
      assert.lengthOf(documents, 2)
      const one = `/documents/${documents[0]?.id}?collection=${SHARED}`
      const removal = { method: "DELETE" } as const
      assert.strictEqual(yield* reader.code(one, removal), "read_only")
      assert.strictEqual(yield* writer.status(one, removal), 204)

      const members = `/collections/${SHARED}/members`
      const change = { method: "PUT", json: { members: [{ user: "Eve", access: "write" }] } } as const
      for (const user of [reader, writer]) {
        assert.strictEqual(yield* user.code(members), "not_the_owner")
        assert.strictEqual(yield* user.code(members, change), "not_the_owner")
        assert.strictEqual(yield* user.code(`/collections/${SHARED}`, removal), "not_the_owner")
      }
      assert.strictEqual(yield* stranger.code(members, change), "not_found")
      // What is not shared is answered like what is missing.
      const missing = yield* stranger.json(Refusal, `/documents?collection=${SHARED}x`)
      const hidden = yield* stranger.json(Refusal, into)
      assert.strictEqual(hidden.error.message, missing.error.message.replace(`${SHARED}x`, SHARED))

      const { error } = yield* server.json(Refusal, "/collections/harbour/members", {
        method: "PUT",
        json: {
          members: [
            { user: "Eve", access: "read" },
            { user: "Nobody", access: "read" }
          ]
        }
      })
      assert.strictEqual(error.code, "user_not_found")
      const listed = yield* server.json(MemberList, "/collections/harbour/members")
      assert.deepStrictEqual(listed.members, [
        { user: "Ann", access: "read" },
        { user: "Ben", access: "write" }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("a member pays for questions and uploads, and the documents count as the owner's storage", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const env = yield* store
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { server, writer } = yield* makeShared(env, data)
          const used = (by: Pick<Server, "json">) =>
            Effect.map(by.json(ServerStatus, "/status"), ({ storage }) => storage?.used ?? 0)
          const ownerQuota = Effect.map(
            server.json(Self, "/api/user/self", { as: "token" }),
            ({ data }) => data.quota
          )
          const before = { owner: yield* ownerQuota, used: yield* used(server) }
          const long = `${rules("nine")}${"A boat is moored at the quay. ".repeat(500)}`
          const body = filesOf({ "long.md": long })
          yield* writer.json(IngestReportBody, `/documents?collection=${SHARED}`, { body })
          const afterUpload = yield* writer.quota
          assert.isBelow(afterUpload, QUOTA)
          const { cost } = yield* writer.json(AnswerBody, "/qa", { json: { question, collection: SHARED } })
          assert.strictEqual(afterUpload - (yield* writer.quota), cost)
          assert.strictEqual(yield* ownerQuota, before.owner)
          assert.isAtLeast((yield* used(server)) - before.used, long.length)
          assert.strictEqual(yield* used(writer), 0)
        })
      )
      for (const { granted, quota, reserved, settled } of yield* Effect.provide(sums, ledgerIn(data, env)))
        assert.strictEqual(granted, quota + reserved + settled)
    }).pipe(Effect.scoped)
  )

  it.live("removing a member ends access at once: documents, chats, conversations and their links", () =>
    Effect.gen(function* () {
      const { reader, server } = yield* makeShared(yield* store)
      const asked = { question, collection: SHARED, conversation: "new" }
      const { conversation } = yield* reader.json(AnswerBody, "/qa", { json: asked })
      const path = `/conversations/${conversation?.id}`
      const link = yield* reader.json(Schema.Struct({ path: Schema.String }), `${path}/link`, {
        method: "POST"
      })
      const shown = Effect.map(server.call(link.path, { as: "none" }), ({ status }) => status)
      const onward = { json: { question: "And why?", conversation: conversation?.id } }
      const messages = [{ role: "user", content: question }]
      const all = Effect.all([
        reader.status(`/documents?collection=${SHARED}`),
        reader.status("/qa", { json: { question, collection: SHARED } }),
        reader.status("/v1/chat/completions", { json: { model: `sluice/${SHARED}`, messages } }),
        reader.status(path),
        reader.status(`${path}/export`),
        // In another collection, but with the answers before it.
        reader.status("/qa", onward),
        shown
      ])
      assert.deepStrictEqual(new Set(yield* all), new Set([200]))
      yield* setMembers(server, [{ user: "Ann", access: "none" }])
      assert.deepStrictEqual(yield* all, [404, 404, 404, 403, 403, 403, 404])
      const { collections } = yield* reader.json(Collections, "/collections")
      assert.isUndefined(collections.find(({ shared }) => shared !== undefined))
      assert.strictEqual(yield* reader.status(path, { method: "DELETE" }), 204)
    }).pipe(Effect.scoped)
  )

  it.live("a removed collection leaves no members, and one of its name has none", () =>
    Effect.gen(function* () {
      const { reader, server } = yield* makeShared(yield* store)
      yield* server.call("/collections/harbour", { method: "DELETE" })
      assert.strictEqual(yield* reader.status(`/documents?collection=${SHARED}`), 404)
      const { status } = yield* server.call("/collections/harbour/members")
      assert.strictEqual(status, 404)
      const body = filesOf({ "new.md": rules("eighty") })
      yield* server.json(IngestReportBody, "/documents?collection=harbour", { body })
      assert.isEmpty((yield* server.json(MemberList, "/collections/harbour/members")).members)
      assert.strictEqual(yield* reader.status(`/documents?collection=${SHARED}`), 404)
    }).pipe(Effect.scoped)
  )

  it.live("a key reads or writes documents, or neither", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* store })
      const status = Effect.fn(function* (documents: unknown, path: string, options: CallOptions) {
        const key = { name: "k", expired_time: -1, remain_quota: QUOTA, subnet: "", documents }
        const made = yield* server.json(MadeKey, "/api/token/", { as: "token", json: key })
        return (yield* server.call(path, { ...options, ...bearer(made.data.key) })).status
      })
      const read: ReadonlyArray<[string, CallOptions]> = [
        ["/documents", {}],
        ["/retrieve", { json: { question } }],
        ["/conversations", {}]
      ]
      const write: ReadonlyArray<[string, CallOptions]> = [
        ["/collections/summer", { method: "PUT" }],
        ["/collections/default/members", { method: "PUT", json: { members: [] } }],
        ["/rebuild", { method: "POST" }]
      ]
      const statuses = (documents: unknown, calls: typeof read) =>
        Effect.forEach(calls, ([path, options]) => status(documents, path, options))
      for (const all of [undefined, "write", true])
        assert.deepStrictEqual(yield* statuses(all, [...read, ...write]), [200, 200, 200, 200, 200, 200])
      assert.deepStrictEqual(yield* statuses("read", [...read, ...write]), [200, 200, 200, 403, 403, 403])
      for (const none of ["none", false])
        assert.deepStrictEqual(yield* statuses(none, [...read, ...write]), [403, 403, 403, 403, 403, 403])
    }).pipe(Effect.scoped)
  )

  describe("in the database", () => {
    it.effect("a group's members have its access, and a removed user leaves nothing", () =>
      Effect.gen(function* () {
        const data = yield* temporaryFolder
        const members = Members.layer.pipe(
          Layer.provide(Audit.layer),
          Layer.provideMerge(ledgerIn(data, yield* store))
        )
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { access, change, list, shared } = yield* Members
          for (const user of ["ann", "ben", "cleo"]) yield* addUser(user, { quota: 1 })
          yield* sql`INSERT INTO user_groups ${sql.insert({ user_id: "ben", name: "legal" })}`
          yield* change("ann", "harbour", [
            { group: "legal", access: "write" },
            { user: "ben", access: "read" },
            { user: "cleo", access: "read" }
          ])
          assert.strictEqual(yield* access("ann", "harbour", "ben"), "write")
          assert.strictEqual(yield* access("ann", "harbour", "cleo"), "read")
          assert.isUndefined(yield* access("ann", "other", "ben"))
          const found = yield* shared("ben")
          assert.deepStrictEqual(found, [
            { owner_id: "ann", username: "ann", collection: "harbour", access: "write" }
          ])
          yield* sql`DELETE FROM user_groups WHERE user_id = 'ben'`
          assert.strictEqual(yield* access("ann", "harbour", "ben"), "read")
          yield* change("ann", "harbour", [{ user: "ben", access: "none" }])
          assert.isUndefined(yield* access("ann", "harbour", "ben"))
          assert.lengthOf((yield* list("ann", "harbour")).members, 2)
          for (const table of ["tokens", "users"])
            yield* sql`DELETE FROM ${sql(table)} WHERE ${sql(table === "users" ? "id" : "user_id")} = 'ann'`
          assert.isEmpty(yield* sql`SELECT * FROM collection_members`)
        }).pipe(Effect.provide(members))
      }).pipe(Effect.scoped)
    )
  })
})
