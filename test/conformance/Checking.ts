/** Runs the checker against test gateways, and reads its reports. */
import { apiKey, systemAccessToken } from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import {
  type CheckedCall,
  checkGateway,
  type ConformanceOptions,
  type Report
} from "@sluice/core/conformance"
import { Duration, Effect, Fiber } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { ACCESS_TOKEN, API_KEY, MODELS } from "./ReferenceGateway.ts"

export const everything = {
  paid: true,
  write: true,
  rotate: true,
  models: MODELS,
  pollInterval: Duration.zero
}

export const check = (
  url: string,
  options: Partial<ConformanceOptions> = everything,
  onCall?: (call: CheckedCall) => Effect.Effect<void>
) =>
  checkGateway(
    {
      baseUrl: url,
      apiKey: apiKey(API_KEY),
      accessToken: systemAccessToken(ACCESS_TOKEN),
      ...options
    },
    onCall
  ).pipe(Effect.provide(layerTransport()))

/** The report of an in-memory gateway after this time on the test clock. */
export const during = Effect.fn(function* (
  time: Duration.Input,
  client: HttpClient.HttpClient,
  options: Partial<ConformanceOptions>
) {
  const running = yield* checkGateway({
    baseUrl: "http://gateway.example",
    apiKey: apiKey(API_KEY),
    ...options
  }).pipe(Effect.provideService(HttpClient.HttpClient, client), Effect.forkChild)
  yield* TestClock.adjust(time)
  return yield* Fiber.join(running)
})

/** The rules with a verdict, as `POST /v1/rerank topN`. */
export const having = ({ calls }: Report, verdict: string, kind?: string) =>
  calls.flatMap(({ call, rules }) =>
    rules
      .filter((rule) => rule.verdict === verdict && (kind === undefined || rule.kind === kind))
      .map(({ rule }) => `${call} ${rule}`)
  )
