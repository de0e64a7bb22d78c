/** The schemas of answers: what the client returns is of its schema, and survives JSON, but no credential does. */
import { assert, describe, it } from "@effect/vitest"
import {
  Account,
  apiKey,
  ChatAnswer,
  ChatPart,
  Embeddings,
  Gateway,
  ImageAnswer,
  Model,
  quota,
  RerankAnswer,
  systemAccessToken,
  Token,
  User,
  Video
} from "@sluice/core"
import { CreatedToken, RotatedAccessToken } from "@sluice/core/client"
import { LoadedImage } from "@sluice/core/media"
import { TestGateway } from "@sluice/core/testing"
import { Effect, Redacted, Schema, Stream } from "effect"
import { chat, chatStream, embedTwo } from "./Clients.ts"

/** Checks a value, and that it is the same after a round trip through JSON text. */
const survives = <A>(schema: Schema.Codec<A, unknown>, value: A) =>
  Effect.gen(function* () {
    assert.isTrue(Schema.is(schema)(value))
    const codec = Schema.fromJsonString(Schema.toCodecJson(schema))
    const text = yield* Schema.encodeEffect(codec)(value)
    assert.deepStrictEqual(yield* Schema.decodeEffect(codec)(text), value)
    return text
  })

describe("the schemas of answers", () => {
  it.effect("have the answers of every call, which survive JSON", () =>
    Effect.gen(function* () {
      const { images, models, rerank, videos } = yield* Gateway
      const account = yield* Account
      const { twoStepImage } = TestGateway.models
      yield* survives(
        RerankAnswer,
        yield* rerank({ model: "r", query: "a", documents: ["a", "b"], returnDocuments: true })
      )
      yield* survives(Embeddings, yield* embedTwo)
      yield* survives(ChatAnswer, yield* chat)
      for (const part of yield* chatStream) yield* survives(ChatPart, part)
      const task = yield* images.create({ model: twoStepImage, prompt: "p" })
      yield* survives(ImageAnswer, task)
      yield* images.get(task.id ?? "")
      const answer = yield* images.get(task.id ?? "")
      yield* survives(ImageAnswer, answer)
      yield* survives(LoadedImage, yield* images.load(answer.images[0] ?? {}))
      yield* survives(Video, yield* videos.create({ model: "v", prompt: "p" }))
      yield* survives(Schema.Array(Model), yield* models)
      yield* survives(User, yield* account.user)
      for (const token of yield* Stream.runCollect(account.tokens.list)) yield* survives(Token, token)
    }).pipe(Effect.provide(TestGateway.layer()))
  )

  it.effect("do not encode a credential", () =>
    Effect.gen(function* () {
      const { rotateAccessToken, tokens } = yield* Account
      const created = yield* tokens.create({ name: "visitor", remainQuota: quota(7) })
      const rotated = yield* rotateAccessToken
      const user = { username: "u", quota: quota(1), accessToken: systemAccessToken("sat-canary") }
      const token = { ...created, id: 1, key: apiKey("sk-canary") }
      const secrets = [
        [CreatedToken, created, created.key],
        [RotatedAccessToken, rotated, rotated.accessToken],
        [RotatedAccessToken, { body: Redacted.make("sat-canary") }, undefined],
        [User, user, user.accessToken],
        [Token, token, token.key]
      ] as ReadonlyArray<[Schema.Codec<unknown, unknown>, unknown, Redacted.Redacted | undefined]>
      for (const [schema, value, secret] of secrets) {
        assert.isTrue(Schema.is(schema)(value))
        const error = yield* Effect.flip(Schema.encodeEffect(Schema.toCodecJson(schema))(value))
        assert.notInclude(error.message, secret === undefined ? "canary" : Redacted.value(secret))
      }
    }).pipe(Effect.provide(TestGateway.layer()))
  )

  it.effect("refuse what is no answer", () =>
    Effect.gen(function* () {
      assert.isFalse(Schema.is(ChatAnswer)({ text: "x" }))
      assert.isFalse(Schema.is(Embeddings)({ vectors: [[1, 2]], tokens: 1 }))
      assert.isFalse(Schema.is(ChatPart)({ type: "start" }))
      assert.isFalse(Schema.is(ImageAnswer)({ images: {}, faults: [] }))
      const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(Embeddings))
      yield* Effect.flip(decode({ vectors: ["no Base64"], tokens: 1 }))
    })
  )
})
