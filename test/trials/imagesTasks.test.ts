/** Image tasks across users, restarts and a gateway. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ImageResponse } from "@sluice/core/contract"
import { ConfigProvider, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseLayer } from "../../apps/demo-server/src/database/Database.ts"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { MediaFiles } from "../../apps/demo-server/src/media/MediaFiles.ts"
import { type MediaTask, MediaTasks } from "../../apps/demo-server/src/media/MediaTasks.ts"
import { startServer, temporaryFolder, type TestServer } from "../demo-server/TestServer.ts"

const path = "/v1/images/generations"
const request = { model: "sluice-image-i5-task", prompt: "A lock on a quiet river", size: "64x48", seed: 4 }

const mediaIn = (data: string) =>
  Layer.merge(MediaTasks.layer, MediaFiles.layer).pipe(
    Layer.provideMerge(DatabaseLayer),
    Layer.provide(ServerConfig.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ SLUICE_DATA: data }))),
    Layer.provide(NodeServices.layer)
  )

const task: MediaTask = {
  id: "img_1",
  kind: "image",
  user: "ann",
  provider: "sluice-embedded",
  model: "sluice-image-i5-task",
  created: Date.now(),
  status: "in_progress",
  progress: 0,
  files: [],
  request: null,
  told: {}
}

const ended = (
  server: TestServer["Service"],
  id: string | undefined,
  headers: Record<string, string> = {}
): Effect.Effect<ImageResponse> =>
  Effect.repeat(server.json(ImageResponse, `${path}/${id}`, { headers }), {
    until: ({ status }) => status !== "in_progress"
  })

describe("image tasks", () => {
  it.live("of another user look like missing ones", () =>
    Effect.gen(function* () {
      const { add, find } = yield* MediaTasks
      yield* add(task)
      assert.strictEqual((yield* find("image", "img_1", "ann")).id, "img_1")
      const asked = (kind: MediaTask["kind"], id: string) => Effect.flip(find(kind, id, "bob"))
      const foreign = (yield* asked("image", "img_1")).reason
      assert.deepInclude(foreign, { _tag: "NotFound", code: "task_not_found" })
      assert.strictEqual(
        foreign.message.replace("img_1", ""),
        (yield* asked("image", "img_2")).reason.message.replace("img_2", "")
      )
      assert.strictEqual((yield* Effect.flip(find("video", "img_1", "ann"))).reason._tag, "NotFound")
    }).pipe(Effect.provide(Layer.unwrap(Effect.map(temporaryFolder, mediaIn))))
  )

  it.effect("are removed after a week, and partly written files at the next start", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const files = join(data, "media", "files")
      mkdirSync(files, { recursive: true })
      writeFileSync(join(files, "b.mp4.new"), "half")
      yield* Effect.gen(function* () {
        const { add, counts } = yield* MediaTasks
        assert.deepStrictEqual(readdirSync(files), [])
        yield* add({ ...task, created: 0 })
        yield* add({ ...task, id: "img_2", created: 0, ended: 0, status: "completed" })
        const left = Effect.map(counts, (all) => all.reduce((sum, { number }) => sum + number, 0))
        yield* TestClock.adjust("6 days")
        assert.strictEqual(yield* left, 2)
        yield* TestClock.adjust("25 hours")
        // A round that is running when the clock moves sleeps from the new time on.
        const later = Effect.andThen(TestClock.adjust("1 hour"), left)
        yield* Effect.repeat(later, { until: (number) => number === 0 })
      }).pipe(Effect.provide(mediaIn(data)))
    }).pipe(Effect.scoped)
  )

  it.effect("that cannot be stored fail, without advice to create them again", () =>
    Effect.gen(function* () {
      const { add } = yield* MediaTasks
      yield* (yield* SqlClient.SqlClient)`DROP TABLE media_tasks`
      const adding = yield* Effect.forkChild(Effect.flip(add({ ...task, ended: 0 })), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 minute")
      const { reason } = yield* Fiber.join(adding)
      assert.deepInclude(reason, { _tag: "ServerFailure", message: "The task could not be stored" })
    }).pipe(Effect.provide(Layer.unwrap(Effect.map(temporaryFolder, mediaIn))), Effect.scoped)
  )

  it.live("survive a restart: ended ones are kept, running ones restart", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const first = yield* Scope.make()
      const server = yield* Scope.provide(startServer({ data }), first)
      const authorization = `Bearer ${server.secrets.apiKey}`
      const begun = yield* server.json(ImageResponse, path, { json: request })
      const done = yield* ended(server, begun.id)
      const { id: cut } = yield* server.json(ImageResponse, path, { json: { ...request, size: "4K", n: 4 } })
      yield* Scope.close(first, Exit.void)

      const again = yield* startServer({ data })
      const kept = yield* again.json(ImageResponse, `${path}/${begun.id}`, { headers: { authorization } })
      const nameOf = ({ data = [] }: ImageResponse) => new URL(data[0]?.url ?? "").pathname
      assert.deepStrictEqual([kept.status, nameOf(kept)], ["completed", nameOf(done)])
      assert.strictEqual((yield* again.call(nameOf(kept), { as: "none" })).status, 200)
      const taken = yield* again.json(ImageResponse, `${path}/${cut}`, { headers: { authorization } })
      assert.strictEqual(taken.status, "in_progress")
    }).pipe(Effect.scoped)
  )

  it.live("of a gateway are polled there, and belong to the user who created them", () =>
    Effect.gen(function* () {
      const gateway = yield* startServer()
      const server = yield* startServer({
        env: {
          SLUICE_GATEWAY_URL: gateway.url,
          SLUICE_API_KEY: gateway.secrets.apiKey,
          SLUICE_EMBEDDING_MODEL: "sluice-lexical-1024",
          SLUICE_RERANK_MODEL: "sluice-lexical-rerank",
          SLUICE_CHAT_MODEL: "sluice-ocr"
        }
      })
      const atOnce = yield* server.json(ImageResponse, path, {
        json: { ...request, model: "sluice-image-i2", seed: null }
      })
      assert.isTrue(atOnce.data?.[0]?.url?.startsWith(gateway.url))
      const begun = yield* server.json(ImageResponse, path, { json: request })
      const done = yield* ended(server, begun.id)
      assert.deepStrictEqual([done.id, done.status], [begun.id, "completed"])
      // Created at the gateway directly, with the same key.
      const foreign = yield* gateway.json(ImageResponse, path, { json: request })
      assert.strictEqual((yield* server.call(`${path}/${foreign.id}`)).status, 404)
      const refused = yield* server.call(path, { json: { ...request, model: "no-such-model" } })
      assert.strictEqual(refused.status, 404)
    }).pipe(Effect.scoped)
  )
})
