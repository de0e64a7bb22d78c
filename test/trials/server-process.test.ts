/** The real process: start, restart, stop, and errors at the start. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { createServer } from "node:net"
import { chmod, readdir } from "node:fs/promises"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { Account, quota, systemAccessToken } from "@sluice/core"
import { AccountClient } from "@sluice/core/client"
import { ErrorBody } from "@sluice/core/contract"
import { AnswerBody, IngestReportBody, ServerStatus } from "../../apps/demo-server/src/contract/index.ts"
import { addressIn, dataFolder, keyIn, startProcess, tokenIn } from "../demo-server/Process.ts"
import { failedStart, filesOf, temporaryFolder } from "../demo-server/TestServer.ts"

const canMount = spawnSync("unshare", ["-rm", "true"]).status === 0

const ask = (url: URL, key: string, question: string) =>
  Effect.promise(async () => {
    const response = await fetch(new URL("/qa", url), {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ question })
    })
    return Schema.decodeUnknownSync(AnswerBody)(await response.json())
  })

const account = (url: string, token: string) =>
  AccountClient.layer({ baseUrl: url, accessToken: systemAccessToken(token) })

const portInUse = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      resume(Effect.succeed({ port, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

/** The user `nobody`, because root can write everywhere. */
const NOBODY = 65_534

describe("the process", () => {
  it.live("knows its first key in the first response", () =>
    Effect.gen(function* () {
      const { port, close } = yield* portInUse
      close()
      const key = `sk-${"k".repeat(48)}`
      const data = yield* dataFolder
      yield* startProcess({ SLUICE_DATA: data, SLUICE_ADMIN_API_KEY: key, PORT: String(port) })
      const response = yield* Effect.tryPromise(() =>
        fetch(`http://127.0.0.1:${port}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
      ).pipe(Effect.retry(Schedule.spaced("1 millis")))
      assert.strictEqual(response.status, 200)
    }).pipe(Effect.scoped)
  )

  it.live(
    "keeps a key that was created just before it was killed, and locks its data folder while it runs",
    () =>
      Effect.gen(function* () {
        const data = yield* dataFolder
        const { ended, name, token } = yield* Effect.scoped(
          Effect.gen(function* () {
            const server = yield* startProcess({ SLUICE_DATA: data })
            const printed = yield* server.printed("The API key is for")
            const second = yield* startProcess({ SLUICE_DATA: data })
            const refused = yield* second.ended
            assert.strictEqual(refused.code, 1)
            assert.match(refused.stderr, /in use by another server.*SLUICE_DATA/)
            const token = tokenIn(printed)
            const create = Effect.flatMap(Account, ({ tokens }) =>
              tokens.create({ name: "survivor", remainQuota: quota(1) })
            )
            const { name } = yield* Effect.provide(create, account(addressIn(printed).origin, token))
            return { ended: server.ended, name, token }
          })
        )
        // Closing the scope kills the process.
        assert.isNull((yield* ended).code)
        const printed = yield* (yield* startProcess({ SLUICE_DATA: data })).printed("Reference")
        const found = Effect.flatMap(Account, ({ tokens }) => tokens.search(name))
        assert.lengthOf(yield* Effect.provide(found, account(addressIn(printed).origin, token)), 1)
      }).pipe(Effect.scoped)
  )

  it.live(
    "prints its credentials once, keeps documents and credentials over a restart, and stops on a signal",
    () =>
      Effect.gen(function* () {
        const data = yield* dataFolder
        const first = yield* startProcess({ SLUICE_DATA: data })
        const banner = yield* first.printed("The API key is for")
        const key = keyIn(banner)
        assert.match(banner, /sat-\w{48}/)
        const url = addressIn(banner)
        assert.match(url.hash, /^#login=\w{48}$/)
        yield* Effect.promise(() =>
          fetch(new URL("/documents", url), {
            method: "POST",
            headers: { authorization: `Bearer ${key}` },
            body: filesOf({
              "ferry.md": "# Ferry\n\nThe last ferry to the island leaves at nine in the evening.\n"
            })
          })
        )
        const question = "When does the last ferry to the island leave?"
        assert.include((yield* ask(url, key, question)).answer, "nine in the evening")
        yield* first.signal("SIGTERM")
        const ended = yield* first.ended
        assert.deepStrictEqual([ended.code, ended.stderr], [0, ""])

        const second = yield* startProcess({ SLUICE_DATA: data })
        const again = yield* second.printed("Reference")
        assert.notInclude(again, "sk-")
        assert.notInclude(again, "sat-")
        assert.include((yield* ask(addressIn(again), key, question)).answer, "nine in the evening")
        const status = yield* Effect.promise(async () =>
          Schema.decodeUnknownSync(ServerStatus)(
            await (
              await fetch(new URL("/status", addressIn(again)), {
                headers: { authorization: `Bearer ${key}` }
              })
            ).json()
          )
        )
        assert.strictEqual(status.documents, 1)
      }).pipe(Effect.scoped)
  )

  it.live("a used port is an error that names PORT and writes no data", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const { port } = yield* portInUse
      const { code, stderr } = yield* (yield* startProcess({ PORT: String(port), SLUICE_DATA: data })).ended
      assert.strictEqual(code, 1)
      assert.match(stderr, new RegExp(`Port ${port} is in use.*PORT=`))
      assert.lengthOf(yield* Effect.promise(() => readdir(data)), 0)
    }).pipe(Effect.scoped)
  )

  // Skipped: only Linux has a file system that rejects new folders.
  it.live.skipIf(!existsSync("/proc/self"))(
    "a data folder that cannot be made (needs /proc): says so, and names the folder",
    () =>
      Effect.gen(function* () {
        const { code, printed } = yield* failedStart("/proc/sluice/data")
        assert.strictEqual(code, 1)
        assert.match(printed, /^Sluice cannot start\. The data folder \/proc\/sluice\/data .*SLUICE_DATA/m)
      })
  )

  // Skipped: only Linux has `unshare`, and some systems allow it to administrators only.
  it.live.skipIf(!canMount)(
    "a full disk at the start (needs unshare) is an error that names the folder",
    () =>
      Effect.gen(function* () {
        const data = yield* temporaryFolder
        const { code, stderr } = yield* (yield* startProcess({ SLUICE_DATA: data }, { disk: "64k" })).ended
        assert.strictEqual(code, 1)
        assert.match(stderr, /disk.*is full.*SLUICE_DATA/)
        assert.include(stderr, data)
      }).pipe(Effect.scoped)
  )

  // Skipped: Windows has no limit on the size of files.
  it.live.skipIf(process.platform === "win32")(
    "a full disk during an upload (needs ulimit) is 503, stores nothing of it, and the server keeps running",
    () =>
      Effect.gen(function* () {
        const data = yield* dataFolder
        const started = yield* startProcess({ SLUICE_DATA: data }, { fileBlocks: 2048 })
        const banner = yield* started.printed("The API key is for")
        const url = addressIn(banner)
        const authorization = `Bearer ${keyIn(banner)}`
        const upload = (files: Parameters<typeof filesOf>[0]) =>
          Effect.promise(async () => {
            const init = { method: "POST", headers: { authorization }, body: filesOf(files) }
            const response = await fetch(new URL("/documents", url), init)
            return [response.status, await response.json()] as const
          })
        const tide = "# Tide\n\nThe tide in the harbour rises four metres.\n"
        const [full, refused] = yield* upload({ "large.md": randomBytes(1_000_000).toString("base64") })
        assert.strictEqual(full, 503)
        assert.strictEqual(Schema.decodeUnknownSync(ErrorBody)(refused).error.code, "no_space")
        const [after, report] = yield* upload({ "tide.md": tide })
        assert.strictEqual(after, 200)
        assert.deepInclude(Schema.decodeUnknownSync(IngestReportBody)(report), { added: 1, failed: [] })
        const listed = yield* Effect.promise(async () =>
          (await fetch(new URL("/documents", url), { headers: { authorization } })).text()
        )
        assert.include(listed, "tide.md")
        assert.notInclude(listed, "large.md")
      }).pipe(Effect.scoped)
  )

  // Skipped: only root can start a process as another user, who may not write to the folder.
  it.live.skipIf(process.getuid?.() !== 0)(
    "a data folder without permission (needs root to drop rights) is an error that names the folder",
    () =>
      Effect.gen(function* () {
        const data = yield* temporaryFolder
        yield* Effect.promise(() => chmod(data, 0o700))
        const started = yield* startProcess({ SLUICE_DATA: join(data, "inner") }, { uid: NOBODY })
        const { code, stderr } = yield* started.ended
        assert.strictEqual(code, 1)
        assert.match(stderr, /not writable.*SLUICE_DATA/)
        assert.include(stderr, data)
      }).pipe(Effect.scoped)
  )

  const configurations: ReadonlyArray<readonly [name: string, env: Record<string, string>, said: RegExp]> = [
    [
      "a gateway without key and models is an error that lists what is missing",
      { SLUICE_GATEWAY_URL: "http://127.0.0.1:9", SLUICE_RERANK_MODEL: "r" },
      /missing: SLUICE_API_KEY.*SLUICE_EMBEDDING_MODEL\./
    ],
    ["an invalid port", { PORT: "http" }, /PORT must be/],
    ["a data folder on an object store", { SLUICE_DATA: "s3://bucket/x" }, /SLUICE_DATA must be a folder/],
    [
      "a key that no header can carry, which is not shown",
      { SLUICE_GATEWAY_URL: "http://127.0.0.1:9", SLUICE_API_KEY: "canary ключ" },
      /SLUICE_API_KEY/
    ]
  ]
  for (const [name, env, said] of configurations) {
    it.live(name, () =>
      Effect.gen(function* () {
        const data = yield* temporaryFolder
        const { code, printed } = yield* failedStart(data, env)
        assert.strictEqual(code, 1)
        assert.match(printed.replaceAll("\n", " "), said)
        assert.notInclude(printed, "canary")
      }).pipe(Effect.scoped)
    )
  }
})
