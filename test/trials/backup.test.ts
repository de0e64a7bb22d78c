/** `sluice backup` while a server is used, and `sluice restore` of it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { AnswerBody, DocumentInfoSchema } from "../../apps/demo-server/src/contract/index.ts"
import { sluiceIn } from "../cli/Launcher.ts"
import { bearer, MadeUser, Self } from "../demo-server/AccountCalls.ts"
import { addressIn, dataFolder, keyIn, startProcess, tokenIn } from "../demo-server/Process.ts"
import { onEachStore, onPostgres } from "../demo-server/Stores.ts"
import { filesOf, startServer, temporaryFolder } from "../demo-server/TestServer.ts"

const List = Schema.Struct({ documents: Schema.Array(DocumentInfoSchema) })
const Usage = Schema.Struct({ data: Schema.Array(Schema.Struct({ calls: Schema.Int })) })

const NAMES = ["Anna", "Berta", "Clara", "Dora", "Emma", "Frida", "Greta", "Hanna"]
const gate = (name: string, hour: number) =>
  filesOf({ [`${name}.md`]: `# ${name}\n\nThe gate ${name} opens at ${hour}:00 in the morning.\n` })

const LONG = 120_000

/** Calls a server in another process. */
const caller = (url: URL, secret: string) => (path: string, body?: FormData | object) =>
  Effect.promise((signal) => {
    const isForm = body instanceof FormData
    return fetch(new URL(path, url), {
      signal,
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${secret}`, ...(!isForm && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) })
    })
  })

const embedding = { model: "sluice-lexical-1024", input: "a lock" }

/** A server with documents, a second user, uploads and paid calls. `acknowledged` are the documents it has for sure. */
const busyServer = Effect.fnUntraced(function* (data: string, env: Record<string, string>) {
  const server = yield* startProcess({ SLUICE_DATA: data, ...env })
  const banner = yield* server.printed("The API key is for")
  const [url, key, token] = [addressIn(banner), keyIn(banner), tokenIn(banner)]
  const made = yield* caller(url, token)("/api/user", { username: "ann", quota: 500_000 })
  const { data: ann } = Schema.decodeUnknownSync(MadeUser)(yield* Effect.promise(() => made.json()))
  const call = caller(url, key)
  const acknowledged: Array<string> = []
  const upload = Effect.fnUntraced(function* (name: string, hour: number) {
    const response = yield* call("/documents", gate(name, hour))
    assert.strictEqual(response.status, 200)
    acknowledged.push(name)
  })
  yield* Effect.forEach(NAMES, (name, at) => upload(name, at + 2))
  let next = 0
  const uploading = Effect.forever(Effect.suspend(() => upload(`Later ${next++}`, 11)))
  const paying = Effect.forever(
    Effect.tap(call("/v1/embeddings", embedding), (response) => Effect.promise(() => response.text()))
  )
  const load = yield* Effect.forkScoped(Effect.all([uploading, paying, paying], { concurrency: 3 }))
  return { ...server, key, token, ann, acknowledged, load }
})

onEachStore((store) => {
  it.live(
    "a backup of a busy server restores every document, user, key and a ledger that adds up",
    () =>
      Effect.gen(function* () {
        const env = yield* store
        const [data, folder] = [yield* dataFolder, yield* temporaryFolder]
        const backup = join(folder, "backup")
        const server = yield* busyServer(data, env)
        const before = [...server.acknowledged]
        const run = (args: ReadonlyArray<string>, more: Record<string, string> = env) =>
          Effect.promise(() => sluiceIn(folder, [...args, "--json"], more))
        const backedUp = yield* run(["backup", backup, "--data", data])
        assert.strictEqual(backedUp.code, 0, backedUp.stderr)
        assert.isAbove(server.acknowledged.length, before.length)
        yield* Fiber.interrupt(server.load)
        yield* server.signal("SIGKILL")
        assert.deepStrictEqual(
          (yield* Effect.promise(() => readdir(folder))).filter((name) => name !== "backup"),
          []
        )

        const restored = join(folder, "restored")
        const other = yield* store
        const result = yield* run(["restore", backup, "--data", restored], other)
        assert.strictEqual(result.code, 0, result.stderr)
        const checked = yield* run(["doctor", "--data", restored], other)
        assert.deepInclude(JSON.parse(checked.stdout), { accounts: { file: [], ledger: [] }, libraries: [] })
        const { json } = yield* startServer({ data: restored, env: other })
        const as = bearer(server.key)
        const paths = (yield* json(List, "/documents", as)).documents.map(({ path }) => path)
        for (const name of before) assert.include(paths, `${name}.md`)
        for (const [at, name] of NAMES.entries()) {
          const question = { question: `When does the gate ${name} open?` }
          const { answer } = yield* json(AnswerBody, "/qa", { ...as, json: question })
          assert.include(answer, `The gate ${name} opens at ${at + 2}:00 in the morning.`)
        }
        const ann = yield* json(Self, "/api/user/self", bearer(server.ann.access_token))
        assert.strictEqual(ann.data.quota, 500_000)
        const usage = yield* json(Usage, "/api/usage", bearer(server.token))
        assert.isAbove(usage.data[0]?.calls ?? 0, 0)
      }).pipe(Effect.scoped),
    LONG
  )
})

onPostgres((_, store) => {
  describe("a backup of a server with PostgreSQL", () => {
    it.live(
      "restores into SQLite, and is refused for a database with accounts",
      () =>
        Effect.gen(function* () {
          const env = yield* store
          const [data, folder] = [yield* dataFolder, yield* temporaryFolder]
          const server = yield* startServer({ data, env })
          const run = (args: ReadonlyArray<string>, more: Record<string, string>) =>
            Effect.promise(() => sluiceIn(folder, args, more))
          const backedUp = yield* run(["backup", "backup", "--data", data], env)
          assert.strictEqual(backedUp.code, 0, backedUp.stderr)
          const refused = yield* run(["restore", "backup", "--data", "used"], env)
          assert.strictEqual(refused.code, 1)
          assert.include(refused.stderr, "already has accounts")
          assert.deepStrictEqual(yield* Effect.promise(() => readdir(folder)), ["backup"])
          const restored = yield* run(["restore", "backup", "--data", "sqlite"], {})
          assert.strictEqual(restored.code, 0, restored.stderr)
          const next = yield* startServer({ data: join(folder, "sqlite") })
          const self = yield* next.json(Self, "/api/user/self", bearer(server.secrets.accessToken))
          assert.isAbove(self.data.quota, 0)
        }).pipe(Effect.scoped),
      LONG
    )
  })
})
