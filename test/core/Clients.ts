/** Clients of the loopback gateway, and the calls that the tests make with them. */
import { apiKey, Gateway, type GatewayError, RETRY_NEVER, systemAccessToken } from "@sluice/core"
import { AccountClient, GatewayClient } from "@sluice/core/client"
import { Effect, Layer, Stream } from "effect"
import { type Behaviour, LoopbackGateway, model } from "./LoopbackGateway.ts"

export const KEY = "sk-canary-5f2e91c0"
export const once = { retry: RETRY_NEVER, maxResponseBytes: 1_000_000, connections: 2 }

export const Clients = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url }) =>
    Layer.merge(
      GatewayClient.layer({
        baseUrl: `${url}/v1/`,
        apiKey: apiKey(KEY),
        ...once,
        embeddings: { texts: 3, bytes: 40, concurrency: 2 }
      }),
      AccountClient.layer({ baseUrl: url, accessToken: systemAccessToken("sat-1"), ...once })
    )
  )
).pipe(Layer.provideMerge(LoopbackGateway.layer))

export const behaving = Effect.fn(function* <A, E, R>(behaviour: Behaviour, effect: Effect.Effect<A, E, R>) {
  const { behave } = yield* LoopbackGateway
  behave(behaviour)
  return yield* Effect.ensuring(
    effect,
    Effect.sync(() => behave(model))
  )
})

/** Why a call failed; that it succeeds is a defect. */
export const reasonOf = <A, R>(effect: Effect.Effect<A, GatewayError, R>) =>
  Effect.matchEffect(effect, {
    onFailure: ({ reason }) => Effect.succeed(reason),
    onSuccess: (value) => Effect.die(new Error(`It succeeded: ${JSON.stringify(value)}`))
  })

export const embedTwo = Gateway.use((gateway) => gateway.embeddings({ model: "e", input: ["a", "b"] }))
export const rerankThree = (topN?: number) =>
  Gateway.use((gateway) =>
    gateway.rerank({
      model: "r",
      query: "q",
      documents: ["a", "b", "c"],
      ...(topN !== undefined && { topN })
    })
  )
export const ask = { model: "c", messages: [{ role: "user" as const, content: "hello" }] }
export const chat = Gateway.use((gateway) => gateway.chat(ask))
export const chatStream = Gateway.use((gateway) => Stream.runCollect(gateway.chatStream(ask)))
