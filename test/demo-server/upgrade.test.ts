/** The data folder of an earlier version (`scripts/write-previous-data.ts`), opened by this one. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder } from "@sluice/core"
import { CHUNKER } from "../../packages/rag/src/chunking/Chunker.ts"
import * as Embedded from "@sluice/embedded"
import { Effect, Layer, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import {
  AnswerBody,
  DocumentInfoSchema,
  IngestStreamEvent,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { bearer, Self } from "./AccountCalls.ts"
import { chunkersOf } from "./CollectionsTable.ts"
import { startServer, temporaryFolder } from "./TestServer.ts"

const List = Schema.Struct({ documents: Schema.Array(DocumentInfoSchema) })
const Secrets = Schema.Struct({ key: Schema.String, token: Schema.String })
const Credentials = Schema.Struct({
  owner: Secrets,
  ann: Schema.Struct({ ...Secrets.fields, id: Schema.String }),
  session: Schema.String,
  balances: Schema.Struct({ owner: Schema.Int, ann: Schema.Int })
})

const previousData = Effect.gen(function* () {
  const data = yield* temporaryFolder
  execFileSync("tar", ["xzf", join(import.meta.dirname, "previous-data.tar.gz"), "-C", data])
  const text = yield* Effect.promise(() => readFile(join(data, "credentials.json"), "utf8"))
  return { data, ...Schema.decodeUnknownSync(Schema.fromJsonString(Credentials))(text) }
})

/** A paid model, so that nothing is rebuilt in the background. */
const models = Layer.effect(
  Embedder,
  Effect.map(Embedder, (embedder) => Embedder.of({ ...embedder, model: { ...embedder.model, free: false } }))
).pipe(Layer.provideMerge(Embedded.layer))

const ferry = { question: "When does the last ferry to the island leave?" }

describe("data of an earlier version", () => {
  it.live("is listed, downloaded, asked and removed by its old index, and then rebuilt", () =>
    Effect.gen(function* () {
      const { ann, balances, data, owner } = yield* previousData
      const old = yield* chunkersOf(join(data, "library"))
      assert.notInclude(old, CHUNKER)
      const { call, events, json } = yield* startServer({ data, models })
      const as = bearer(owner.key)
      const { documents } = yield* json(List, "/documents", as)
      assert.deepStrictEqual(
        documents.map(({ path }) => path),
        ["ferry.md", "lock.md", "visiting.html"]
      )
      const file = yield* call(`/documents/${documents[0]?.id}/file`, as)
      assert.include(yield* Effect.promise(() => file.text()), "nine in the evening")
      assert.include((yield* json(AnswerBody, "/qa", { ...as, json: ferry })).answer, "nine in the evening")
      const [report] = (yield* json(List, "/documents?collection=report", as)).documents
      const figures = yield* call(`/documents/${report?.id}/figures?collection=report`, as)
      assert.strictEqual(figures.status, 200)
      yield* call(`/documents/${documents[1]?.id}`, { ...as, method: "DELETE" })
      assert.lengthOf((yield* json(List, "/documents", as)).documents, 2)
      assert.deepStrictEqual(yield* chunkersOf(join(data, "library")), old)
      assert.isBelow((yield* json(Self, "/api/user/self", bearer(owner.token))).data.quota, balances.owner)

      const rebuilt = yield* events(IngestStreamEvent, "/rebuild", { ...as, method: "POST" })
      assert.strictEqual(rebuilt.at(-1)?.type, "done")
      assert.deepStrictEqual(new Set(yield* chunkersOf(join(data, "library"))), new Set([CHUNKER]))
      assert.include((yield* json(AnswerBody, "/qa", { ...as, json: ferry })).answer, "nine in the evening")
      const other = yield* json(List, "/documents", bearer(ann.key))
      assert.deepStrictEqual(
        other.documents.map(({ path }) => path),
        ["boats.md"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("keeps users, keys, tokens, sessions and balances, and its ledger adds up", () =>
    Effect.gen(function* () {
      const { ann, balances, data, owner, session } = yield* previousData
      const server = yield* startServer({ data, models })
      const quotaOf = (token: string) =>
        Effect.map(server.json(Self, "/api/user/self", bearer(token)), (self) => self.data.quota)
      assert.deepStrictEqual({ owner: yield* quotaOf(owner.token), ann: yield* quotaOf(ann.token) }, balances)
      const json = { model: "sluice-lexical-1024", input: "boats" }
      assert.strictEqual((yield* server.call("/v1/embeddings", { ...bearer(ann.key), json })).status, 200)
      assert.strictEqual(yield* quotaOf(ann.token), balances.ann - 1)
      const cookie = { as: "none", headers: { cookie: session } } as const
      assert.strictEqual((yield* server.json(ServerStatus, "/status", cookie)).documents, 3)
      assert.notInclude(server.printed.join("\n"), "differs by")
    }).pipe(Effect.scoped)
  )
})
