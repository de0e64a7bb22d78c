/** The option `traceparent`, at a gateway on a loopback port. */
import { assert, describe, it } from "@effect/vitest"
import { Account, apiKey, Gateway, systemAccessToken } from "@sluice/core"
import { AccountClient, GatewayClient } from "@sluice/core/client"
import { Effect, Layer, Tracer } from "effect"
import { chatStream, rerankThree } from "./Clients.ts"
import { json, LoopbackGateway, model } from "./LoopbackGateway.ts"
import { sendBytes } from "./imagesClient.ts"
import { onePixel } from "./mediaImages.ts"
import { running } from "./tasksClient.ts"

const clients = (options: { readonly traceparent?: boolean }) =>
  Effect.map(LoopbackGateway, ({ url }) =>
    Layer.merge(
      GatewayClient.layer({ baseUrl: url, apiKey: apiKey("sk-traced"), ...options }),
      AccountClient.layer({ baseUrl: url, accessToken: systemAccessToken("sat-traced"), ...options })
    )
  ).pipe(Layer.unwrap, Layer.provideMerge(LoopbackGateway.layer))

/** Every span, by its id. */
const collecting = () => {
  const spans = new Map<string, Tracer.Span>()
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.set(span.spanId, span)
      return span
    }
  })
  return { spans, tracer }
}

describe("traceparent", () => {
  it.effect("is the span of the call in the program's trace, a retry's too", () =>
    Effect.gen(function* () {
      const { spans, tracer } = collecting()
      const { behave, seen } = yield* LoopbackGateway
      behave((seen, response, nth) => (nth === 0 ? json(response, {}, 503) : model(seen, response, nth)))
      const program = Effect.gen(function* () {
        yield* rerankThree()
        yield* chatStream
        yield* Account.use(({ models }) => models)
        return (yield* Effect.currentSpan).traceId
      })
      const traceId = yield* running(program.pipe(Effect.withSpan("program"), Effect.withTracer(tracer)))
      const sent = seen.map(({ headers }) => String(headers["traceparent"]).split("-"))
      assert.deepStrictEqual(
        sent.map(([version, trace, span = "", sampled]) => [version, trace, spans.get(span)?.name, sampled]),
        ["rerank r", "rerank r", "chat c", "models"].map((name) => ["00", traceId, name, "01"])
      )
      assert.isTrue(seen.every(({ headers }) => headers["b3"] === undefined))
    }).pipe(Effect.provide(clients({ traceparent: true })))
  )

  it.effect("is not sent to another host, nor without a tracer", () =>
    Effect.gen(function* () {
      const { behave, seen, url } = yield* LoopbackGateway
      const { images } = yield* Gateway
      const load = (host: string) =>
        images.load({ url: `${url.replace("127.0.0.1", host)}/1.png` }).pipe(Effect.withSpan("program"))
      behave(sendBytes(Buffer.from(onePixel.png, "base64")))
      yield* load("127.0.0.1")
      yield* load("localhost")
      yield* load("127.0.0.1").pipe(Effect.withTracerEnabled(false))
      const traced = seen.map(({ headers }) => headers["traceparent"] !== undefined)
      assert.deepStrictEqual(traced, [true, false, false])
    }).pipe(Effect.provide(clients({ traceparent: true })))
  )

  it.effect("is not sent by default", () =>
    Effect.gen(function* () {
      const { seen } = yield* LoopbackGateway
      yield* rerankThree().pipe(Effect.withSpan("program"))
      assert.deepStrictEqual(
        seen.map(({ headers }) => headers["traceparent"]),
        [undefined]
      )
    }).pipe(Effect.provide(clients({})))
  )
})
