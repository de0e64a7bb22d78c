/** Every error gives advice once, and the advice does not contradict the message. */
import { assert, describe, it, layer } from "@effect/vitest"
import {
  Account,
  Forbidden,
  Gateway,
  GatewayError,
  type GatewayReason,
  InsufficientQuota,
  InvalidRequest,
  InvalidResponse,
  NotFound,
  RateLimited,
  ServerFailure,
  TaskFailed,
  TimedOut,
  Unauthorized,
  Unreachable
} from "@sluice/core"
import { Duration, Effect } from "effect"
import { behaving, Clients, rerankThree } from "./Clients.ts"
import { hangUp } from "./HostileGateway.ts"
import { openAi, refuse } from "./LoopbackGateway.ts"

const message = "m"
const after = Duration.seconds(2)

describe("the advice", () => {
  const advised: ReadonlyArray<readonly [GatewayReason, RegExp]> = [
    [new InvalidRequest({ message, param: "size" }), /^Correct `size`: /],
    [new InvalidRequest({ message }), /^Correct the request: /],
    [new Unauthorized({ message }), /credential is complete/],
    [new Forbidden({ message }), /credential with this permission/],
    [new InsufficientQuota({ message }), /balance of the user/],
    [new NotFound({ message }), /may have been removed/],
    [new RateLimited({ message }), /fewer concurrent calls/],
    [new RateLimited({ message, retryAfter: after }), /Retry in 2s/],
    [new ServerFailure({ message, status: 500 }), /Retry later/],
    [new ServerFailure({ message, status: 500, final: true }), /operator of the gateway/],
    [new Unreachable({ message }), /Retry later/],
    [new TimedOut({ message, scope: "attempt", after }), /raise the timeout/],
    [new InvalidResponse({ message }), /operator of the gateway/],
    [new TaskFailed({ message, task: "t" }), /create a new task/]
  ]
  for (const [reason, advice] of advised) {
    it(`for ${reason._tag} matches ${advice.source}`, () => {
      const error = new GatewayError({ operation: "call", attempt: 1, reason })
      assert.match(error.advice ?? "", advice)
      assert.strictEqual(error.message, `call: m. ${error.advice}`)
    })
  }

  it("does not say to correct a request if the task is not ready", () => {
    const reason = new InvalidRequest({ message: "Not made yet: ask for its status first" })
    const error = new GatewayError({ operation: "videos.content", task: "t", attempt: 1, reason })
    assert.match(error.message, /ask for its status first$/)
  })

  it("names the base URL for an unknown path", () => {
    const reason = new NotFound({ message: "There is no /docs/v1/models here", code: "route_not_found" })
    for (const about of [{}, { model: "m" }]) {
      const error = new GatewayError({ operation: "call", attempt: 1, reason, ...about })
      assert.match(error.message, /here\. Check the base URL: .* \/v1 or \/api\.$/)
    }
  })

  it("is absent if the request was refused locally, with its own message", () => {
    const error = new GatewayError({ operation: "call", reason: new InvalidRequest({ message }) })
    assert.isUndefined(error.advice)
    assert.strictEqual(error.message, "call: m")
  })
})

layer(Clients)("the advice of a call", (it) => {
  it.effect("names the list of models only for an unknown model", () =>
    Effect.gen(function* () {
      const absent = <A, R>(call: Effect.Effect<A, GatewayError, R>) =>
        Effect.map(
          behaving(refuse(404, openAi({ message: "none" })), Effect.flip(call)),
          ({ message }) => message
        )
      assert.match(yield* absent(rerankThree()), /none\. .*list of models/)
      const tasks: ReadonlyArray<Effect.Effect<unknown, GatewayError, Gateway>> = [
        Gateway.use(({ videos }) => videos.get("v-1")),
        Gateway.use(({ images }) => images.get("i-1"))
      ]
      for (const call of tasks) {
        const said = yield* absent(call)
        assert.match(said, /Check the task's id/)
        assert.notInclude(said, "models")
      }
      assert.match(yield* absent(Account.use(({ tokens }) => tokens.get(7))), /Check the id:/)
    })
  )

  it.effect("never says to repeat a creation with an unknown outcome", () =>
    Effect.gen(function* () {
      const create = Gateway.use(({ images }) => images.create({ model: "i", prompt: "p" }))
      for (const behaviour of [refuse(500, openAi({})), hangUp("destroy")]) {
        const error = yield* behaving(behaviour, Effect.flip(create))
        assert.isTrue(error.outcomeUnknown)
        assert.match(error.message, /Check before repeating it\.$/)
      }
      const doubt = "It may have been executed and charged. Check before repeating it."
      for (const said of ["boom", "boom.", `boom. ${doubt}`]) {
        const error = yield* behaving(refuse(500, openAi({ message: said })), Effect.flip(create))
        assert.strictEqual(error.reason.message, `boom. ${doubt}`)
        assert.isTrue(error.outcomeUnknown)
      }
      const read = yield* behaving(hangUp("destroy"), Effect.flip(rerankThree()))
      assert.isUndefined(read.outcomeUnknown)
      assert.match(read.message, /Retry later\.$/)
    })
  )
})
