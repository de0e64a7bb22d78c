/** The client makes every call of the contract, against a gateway that keeps it, and every one of them succeeds. */
import { assert, describe, it } from "@effect/vitest"
import { Account, apiKey, Gateway, quota, systemAccessToken } from "@sluice/core"
import { AccountClient, GatewayClient } from "@sluice/core/client"
import { contractCalls } from "@sluice/core/conformance"
import { Effect, Layer, Stream } from "effect"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ACCESS_TOKEN, API_KEY, MODELS } from "../conformance/ReferenceGateway.ts"
import { serveGateway } from "../conformance/serveGateway.ts"
import { running } from "./tasksClient.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-calls-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const models = Effect.gen(function* () {
  const gateway = yield* Gateway
  const path = yield* folder
  const { results } = yield* gateway.rerank({ model: MODELS.rerank, query: "a lock", documents: ["lock"] })
  assert.lengthOf(results, 1)
  const { vectors } = yield* gateway.embeddings({ model: MODELS.embedding, input: ["a", "b"] })
  assert.lengthOf(vectors, 2)
  const asked = { model: MODELS.chat, messages: [{ role: "user", content: "grass?" }] } as const
  assert.strictEqual((yield* gateway.chat(asked)).text, "Green.")
  assert.lengthOf(yield* Stream.runCollect(gateway.chatStream(asked)), 2)
  const { images } = yield* gateway.images.generate({ model: MODELS.twoStepImage, prompt: "a lock" })
  assert.lengthOf(images, 1)
  const { id } = yield* gateway.videos.generate({ model: MODELS.video, prompt: "a lock" })
  yield* gateway.videos.download(id, join(path, "film.mp4"))
  assert.deepStrictEqual(yield* Effect.promise(() => readdir(path)), ["film.mp4"])
  yield* gateway.videos.remove(id)
  assert.isNotEmpty(yield* gateway.models)
})

const account = Effect.gen(function* () {
  const { availableModels, models, rotateAccessToken, tokens, user } = yield* Account
  assert.strictEqual((yield* user).username, "keeper")
  assert.deepStrictEqual(yield* availableModels, yield* models)
  const { id = 0 } = yield* tokens.create({ name: "visitor", remainQuota: quota(7) })
  assert.strictEqual((yield* tokens.disable(id)).enabled, false)
  assert.strictEqual((yield* tokens.rename(id, "guest")).name, "guest")
  assert.lengthOf(yield* tokens.search("guest"), 1)
  assert.lengthOf(yield* Stream.runCollect(tokens.list), 3)
  yield* tokens.remove(id)
  assert.isDefined((yield* rotateAccessToken).accessToken)
})

describe("the client", () => {
  it.effect("makes every call of the interface, and our own", () =>
    Effect.gen(function* () {
      const { seen, url: baseUrl } = yield* serveGateway()
      // Hours, so that a machine that is slow for a while is not out of time on the test's clock.
      const patient = { baseUrl, attemptTimeout: "9 hours", callTimeout: "9 hours" } as const
      const deadline = { deadline: "9 hours" } as const
      const clients = Layer.merge(
        GatewayClient.layer({ ...patient, apiKey: apiKey(API_KEY), images: deadline, videos: deadline }),
        AccountClient.layer({ ...patient, accessToken: systemAccessToken(ACCESS_TOKEN) })
      )
      yield* running(Effect.andThen(models, account).pipe(Effect.provide(clients)))
      const made = seen.map((call) => call.replace(/\?.*/, "").replace(/\/(\d+|task-\d+)(?=\/|$)/, "/{}"))
      assert.sameMembers(
        [...new Set(made)],
        contractCalls.map(({ name }) => name)
      )
      assert.strictEqual(contractCalls.length, 19 + 1)
    }).pipe(Effect.scoped)
  )
})
