/** The account's contract: round trips of its schemas, and of its client and handlers. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import {
  AccessTokenAuth,
  AccountGroup,
  MalformedRequest,
  Principal,
  TokenRecord,
  TokensResponse,
  TokenUpdateRequest,
  UserResponse,
  Expiry,
  NEVER_EXPIRES
} from "@sluice/core/contract"
import { Account, type NewToken, Quota, quota, RETRY_NEVER, systemAccessToken } from "@sluice/core"
import { AccountClient } from "@sluice/core/client"
import { DateTime, Effect, Layer, Redacted, Schema, Stream } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { AccountHandlers } from "./accountHandlers.ts"
import { jsonRoundTrip } from "./jsonRoundTrip.ts"

const json = jsonRoundTrip

const roundTrip = <A>(schema: Schema.Codec<A, unknown>, wire: unknown) => {
  const codec = Schema.toCodecJson(schema)
  const read = Schema.decodeUnknownSync(codec)(wire)
  assert.deepStrictEqual(json(Schema.encodeSync(codec)(read)), wire)
  return read
}

const Row = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  key: Schema.optionalKey(Schema.String),
  status: Schema.Int,
  expired_time: Schema.Json,
  remain_quota: Schema.Int,
  subnet: Schema.optionalKey(Schema.String),
  group: Schema.Json
})

describe("the account's schemas", () => {
  it.prop("encode an expiry of any form as it was decoded", [Schema.Json], ([wire]) => {
    roundTrip(Expiry, json(wire))
  })

  it.prop("decode every second from 1970 to 9999", [Schema.Int], ([any]) => {
    const seconds = Math.abs(any) % 253_402_300_800
    const expiry = roundTrip(Expiry, seconds)
    assert.strictEqual(expiry._tag === "At" ? DateTime.toEpochMillis(expiry.at) : -1, seconds * 1000)
  })

  it.prop(
    "encode tokens, lists, updates and users as they were decoded",
    [Row, Schema.Json],
    ([any, other]) => {
      const row = json({ ...any, other })
      const { key, ...token } = roundTrip(TokenRecord, row)
      assert.strictEqual(key && Redacted.value(key), row.key)
      assert.deepStrictEqual(token.extra, { group: row.group, other: row.other })
      const list = { success: true, message: "", data: [row], other: row.other }
      roundTrip(TokensResponse, list)
      roundTrip(TokensResponse, { ...list, data: { items: [row], total: 1, page: 1 } })
      roundTrip(TokenUpdateRequest, json({ ...row, key: undefined }))
      roundTrip(UserResponse, { data: { username: row.name, quota: row.remain_quota, other: row.other } })
    }
  )

  it("decode an expiry as never, as a time, or as unknown", () => {
    const read = Schema.decodeUnknownSync(Expiry)
    assert.deepStrictEqual(read(-1), NEVER_EXPIRES)
    assert.deepStrictEqual(read(0), { _tag: "At", at: DateTime.makeUnsafe(0) })
    for (const raw of [-2, 1.5, 253_402_300_800, 1_893_456_000_000, "2030-01-01", "", null, { at: 1 }]) {
      assert.deepStrictEqual(read(raw), { _tag: "Unknown", raw })
    }
    const at = DateTime.makeUnsafe("1969-12-31T23:59:59Z")
    assert.throws(() => Schema.encodeSync(Expiry)({ _tag: "At", at }), /1970/)
  })
})

const Api = HttpApi.make("sluice").add(AccountGroup).middleware(MalformedRequest)

const Server = HttpRouter.serve(
  HttpApiBuilder.layer(Api).pipe(
    Layer.provide(AccountHandlers),
    Layer.provide(
      Layer.succeed(AccessTokenAuth, {
        systemAccessToken: (effect) => Effect.provideService(effect, Principal, { user: "ada" })
      })
    ),
    Layer.provide(MalformedRequest.layer)
  ),
  { disableLogger: true, disableListenLog: true }
).pipe(Layer.provideMerge(NodeHttpServer.layerTest))

const client = Layer.unwrap(
  Effect.map(HttpServer.HttpServer, ({ address }) =>
    AccountClient.layer({
      baseUrl: `http://127.0.0.1:${"port" in address ? address.port : 0}`,
      accessToken: systemAccessToken("sat-1"),
      retry: RETRY_NEVER
    })
  )
)

it.layer(Layer.provideMerge(client, Server))("the account's client and handlers", (it) => {
  it.effect("exchange every call", () =>
    Effect.gen(function* () {
      const { rotateAccessToken, tokens, user } = yield* Account
      assert.deepStrictEqual(yield* user, { username: "ada", quota: quota(1), extra: { group: "vip" } })
      const { accessToken } = yield* rotateAccessToken
      assert.strictEqual(accessToken && Redacted.value(accessToken), "sat-2")

      const at = DateTime.makeUnsafe("2030-01-02T03:04:05Z")
      const asked: NewToken = {
        name: "a",
        remainQuota: quota(7),
        expires: { _tag: "At", at },
        extra: { group: "x" }
      }
      const { key, ...made } = yield* tokens.create(asked)
      assert.strictEqual(Redacted.value(key), "sk-1")
      assert.deepStrictEqual<object>(made, { ...asked, id: 1, subnet: "", status: 1, enabled: true })
      yield* tokens.create({ name: "b", remainQuota: quota(0) })
      const changed = yield* tokens.update(1, {
        enabled: false,
        expires: NEVER_EXPIRES,
        remainQuota: Quota.make(9)
      })
      assert.deepStrictEqual<object>(changed, {
        ...made,
        enabled: false,
        status: 0,
        expires: NEVER_EXPIRES,
        remainQuota: quota(9)
      })
      assert.deepStrictEqual((yield* Stream.runCollect(tokens.list))[0], changed)
      assert.deepStrictEqual(
        (yield* tokens.search("b")).map(({ id }) => id),
        [2]
      )
      yield* tokens.remove(2)
      assert.strictEqual((yield* Effect.flip(tokens.get(2))).reason._tag, "NotFound")
    })
  )
})
