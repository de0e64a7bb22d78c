import { assert, describe, layer } from "@effect/vitest"
import { Account, apiKey, Gateway, type GatewayError, Quota, systemAccessToken } from "@sluice/core"
import { RETRY, AccountClient, GatewayClient, withIdempotencyKey } from "@sluice/core/client"
import { Effect, Exit, Layer } from "effect"
import { runWithClock } from "./runWithClock.ts"
import { behaving, KEY } from "./Clients.ts"
import { cut, hangUp, silent, stalled } from "./HostileGateway.ts"
import { type Behaviour, json, LoopbackGateway, openAi, refuse } from "./LoopbackGateway.ts"

const ALL = 1 + RETRY.times

const clients = (honoursIdempotencyKey: boolean) =>
  Layer.unwrap(
    Effect.map(LoopbackGateway, ({ url }) => {
      const options = {
        baseUrl: url,
        connections: 2,
        attemptTimeout: "5 seconds",
        honoursIdempotencyKey
      } as const
      return Layer.merge(
        GatewayClient.layer({ ...options, apiKey: apiKey(KEY) }),
        AccountClient.layer({ ...options, accessToken: systemAccessToken("sat-1") })
      )
    })
  ).pipe(Layer.provideMerge(Layer.fresh(LoopbackGateway.layer)))

type Call = Effect.Effect<unknown, GatewayError, Gateway | Account>

/** Each with an answer that it takes. */
const creations: ReadonlyArray<readonly [name: string, call: Call, answer: unknown]> = [
  ["a video", Gateway.use(({ videos }) => videos.create({ model: "v", prompt: "p" })), { id: "v-1" }],
  [
    "an image",
    Gateway.use(({ images }) => images.create({ model: "i", prompt: "p" })),
    { data: [{ url: "https://h/1.png" }] }
  ],
  [
    "a token",
    Account.use(({ tokens }) => tokens.create({ name: "t", remainQuota: Quota.make(5) })),
    {
      success: true,
      data: { id: 3, name: "t", key: "made-key", status: 1, expired_time: -1, remain_quota: 5, subnet: "" }
    }
  ]
]
const rotation: Call = Account.use(({ rotateAccessToken }) => rotateAccessToken)

/** Failures with unknown outcome. */
const unsure: ReadonlyArray<readonly [name: string, behaviour: Behaviour]> = [
  ["500", refuse(500, openAi({}))],
  ["503 that asks to come again", refuse(503, openAi({}), { "retry-after": "1", "x-should-retry": "true" })],
  ["a reset in place of the answer", hangUp("resetAndDestroy")],
  ["an end in place of the answer", hangUp("destroy")],
  ["a reset during the response", cut("resetAndDestroy")],
  ["silence", silent],
  ["an answer that stalls", stalled(201)]
]

const run = Effect.fn(function* (call: Call, behaviour: Behaviour) {
  const { seen } = yield* LoopbackGateway
  return yield* behaving(
    behaviour,
    Effect.map(runWithClock(call), ({ exit }) => ({
      exit,
      made: seen.length,
      keys: new Set(seen.map(({ headers }) => headers["idempotency-key"]))
    }))
  )
})

const onceThen =
  (first: Behaviour, answer: unknown): Behaviour =>
  (request, response, nth) =>
    nth === 0 ? first(request, response, nth) : json(response, answer)

layer(clients(false))("a creation", (it) => {
  for (const [what, call, answer] of creations) {
    describe(`of ${what}`, () => {
      for (const [name, behaviour] of unsure) {
        it.effect(`is sent once: ${name}; the error says that it may have been executed`, () =>
          Effect.gen(function* () {
            const { exit, made } = yield* run(call, behaviour)
            assert.strictEqual(made, 1)
            const error = yield* Effect.flip(exit)
            assert.match(error.message, /Check before repeating it\.$/)
            assert.deepStrictEqual([error.attempt, error.notExecuted, error.outcomeUnknown], [1, false, true])
          })
        )
      }

      it.effect("is repeated after 429 with the same key, which the program can choose", () =>
        Effect.gen(function* () {
          const { exit, keys, made } = yield* run(call, onceThen(refuse(429, ""), answer))
          assert.isTrue(Exit.isSuccess(exit), JSON.stringify(exit))
          assert.deepStrictEqual([made, keys.size], [2, 1])
          assert.match([...keys][0]?.toString() ?? "", /^[0-9a-f-]{36}$/)
          const chosen = yield* run(withIdempotencyKey("order-17")(call), onceThen(refuse(429, ""), answer))
          assert.deepStrictEqual([...chosen.keys], ["order-17"])
          const another = yield* run(call, refuse(429, ""))
          assert.deepStrictEqual([another.made, another.keys.size], [ALL, 1])
          assert.notDeepEqual([...another.keys], [...keys])
        })
      )
    })
  }

  it.effect("a rotation is sent once, without a key", () =>
    Effect.gen(function* () {
      for (const [name, behaviour] of [...unsure, ["429", refuse(429, "")] as const]) {
        const { exit, keys, made } = yield* run(rotation, behaviour)
        assert.deepStrictEqual([Exit.isFailure(exit), made, [...keys]], [true, 1, [undefined]], name)
      }
    })
  )
})

layer(clients(true))("towards a gateway that honours the key", (it) => {
  for (const [what, call, answer] of creations) {
    it.effect(`the creation of ${what} is repeated like a read, under one key`, () =>
      Effect.gen(function* () {
        for (const [name, behaviour] of unsure) {
          const { exit, keys, made } = yield* run(call, onceThen(behaviour, answer))
          assert.deepStrictEqual([Exit.isSuccess(exit), made, keys.size], [true, 2, 1], name)
        }
      })
    )
  }

  it.effect("a rotation is still sent once", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* run(rotation, refuse(500, openAi({})))).made, 1)
    })
  )
})
