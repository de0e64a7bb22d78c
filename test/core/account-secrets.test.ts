/** Credentials of the account: two types, and no place where they show. */
import { inspect } from "node:util"
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import {
  Account,
  type ApiKey,
  apiKey,
  quota,
  RETRY_NEVER,
  type SystemAccessToken,
  systemAccessToken
} from "@sluice/core"
import { AccountClient, GatewayClient } from "@sluice/core/client"
import { Cause, Effect, Exit, Layer, Logger, Redacted, References, Stream, Tracer } from "effect"
import { at } from "./accountCalls.ts"
import { oneApi, plain, Store } from "./accountGateways.ts"
import { type Behaviour, json, LoopbackGateway } from "./LoopbackGateway.ts"

const ACCESS = "sat-canary-0b9e7f51aa"
/** Keys of the tokens, as the store makes them. */
const KEYS = ["0001".repeat(12), "0002".repeat(12)]
const ROTATED = "sat-one-api"

describe("the two credentials", () => {
  it("are different types", () => {
    const baseUrl = "https://gateway.example.com"
    const key = apiKey("sk-1")
    const token = systemAccessToken("sat-1")
    expectTypeOf<ApiKey>().not.toExtend<SystemAccessToken>()
    expectTypeOf<SystemAccessToken>().not.toExtend<ApiKey>()
    // @ts-expect-error: an API key does not open the account
    AccountClient.layer({ baseUrl, accessToken: key })
    // @ts-expect-error: a system access token calls no models
    GatewayClient.layer({ baseUrl, apiKey: token })
    // @ts-expect-error: nor does any other secret
    AccountClient.layer({ baseUrl, accessToken: Redacted.make("sat-1") })
    assert.deepStrictEqual(
      [String(key), String(token)],
      ["<redacted:ApiKey>", "<redacted:SystemAccessToken>"]
    )
  })

  it.effect("a user's access token has its type", () =>
    Effect.gen(function* () {
      const data = { username: "ada", quota: 1, access_token: "sat-9", password: "hash", group: "vip" }
      const shown: Behaviour = (_, response) => json(response, { data })
      const { value } = yield* at(
        shown,
        Account.use(({ user }) => user)
      )
      assert.strictEqual(value.accessToken && Redacted.value(value.accessToken), "sat-9")
      assert.strictEqual(
        JSON.stringify(value),
        '{"username":"ada","quota":1,"accessToken":"<redacted:SystemAccessToken>","extra":{"group":"vip"}}'
      )
    })
  )

  it("the account returns credentials of the right type", () => {
    type Tokens = Account["Service"]["tokens"]
    expectTypeOf<Effect.Success<ReturnType<Tokens["create"]>>["key"]>().toEqualTypeOf<ApiKey>()
    type Rotated = Effect.Success<Account["Service"]["rotateAccessToken"]>
    expectTypeOf<Rotated["accessToken"]>().toEqualTypeOf<SystemAccessToken | undefined>()
  })
})

describe("the account's secrets appear", () => {
  /** Says the credential in every way that an answer can. */
  const rude: Behaviour = ({ headers }, response, nth) => {
    const said = `no: ${headers.authorization} and again ${ACCESS}`
    if (nth % 3 === 0) return json(response, { success: false, message: said })
    if (nth % 3 === 1) return json(response, { error: { message: said, param: said, code: said } }, 400)
    json(response, said, 403, { "x-request-id": ACCESS })
  }
  /** A key where none belongs, so that the answer does not have its form. */
  const wrong: Behaviour = (_, response) => {
    const token = { id: KEYS[0], name: 7, key: { value: KEYS[0] }, status: KEYS[0] }
    json(response, { success: true, data: [token, KEYS[0]], [`${KEYS[0]}`]: KEYS[0] })
  }

  it.effect("in no error, log, span or inspection", () =>
    Effect.gen(function* () {
      const { behave, url: baseUrl } = yield* LoopbackGateway
      const client = AccountClient.layer({
        baseUrl,
        accessToken: systemAccessToken(ACCESS),
        retry: RETRY_NEVER
      })
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span(options) {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const logged: Array<unknown> = []
      const logger = Logger.make(({ cause, message }) => void logged.push(message, Cause.pretty(cause)))
      const calls: ReadonlyArray<Effect.Effect<unknown, unknown, Account>> = [
        Account.use(({ user }) => user),
        Account.use(({ tokens }) => tokens.create({ name: "ada", remainQuota: quota(1) })),
        Account.use(({ tokens }) => tokens.get(1)),
        Account.use(({ tokens }) => Stream.runCollect(tokens.list)),
        Account.use(({ tokens }) => tokens.search("t")),
        Account.use(({ tokens }) => tokens.disable(1)),
        Account.use(({ tokens }) => tokens.remove(1)),
        Account.use(({ rotateAccessToken }) => rotateAccessToken),
        Account.use(({ models }) => models)
      ]
      const ends: Array<Exit.Exit<unknown, unknown>> = []
      yield* Effect.gen(function* () {
        for (const behaviour of [oneApi(new Store(1)), plain(new Store(1)), rude, wrong]) {
          behave(behaviour)
          for (const call of calls) {
            const said = Effect.tapCause(call, (cause) => Effect.logError("failed", cause))
            ends.push(yield* Effect.exit(Effect.tap(said, (value) => Effect.logDebug(value))))
          }
        }
      }).pipe(
        Effect.provide(Layer.merge(client, Logger.layer([logger]))),
        Effect.provideService(References.MinimumLogLevel, "All"),
        Effect.withTracer(tracer)
      )
      assert.isAbove(spans.length, 30)
      assert.isAbove(ends.filter(Exit.isFailure).length, 15)
      assert.isAbove(ends.filter(Exit.isSuccess).length, 12)
      for (const [place, list] of Object.entries({ spans, logged, ends })) {
        for (const one of list) {
          const said = `${inspect(one, { depth: 12, maxStringLength: null })} ${textOf(one)} ${String(one)}`
          for (const secret of [ACCESS, ...KEYS, ROTATED]) assert.notInclude(said, secret, place)
        }
      }
    }).pipe(Effect.provide(LoopbackGateway.layer))
  )
})

/** As JSON; each object once, for spans know their parents. */
const textOf = (value: unknown) => {
  const seen = new WeakSet<object>()
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === "bigint") return String(one)
    if (typeof one !== "object" || one === null) return one
    if (seen.has(one)) return undefined
    seen.add(one)
    return one
  })
}
