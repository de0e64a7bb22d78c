/** A gateway in the process: the real client over a gateway without a network. */
import { Clock, Context, type Duration, Effect, Layer } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import * as AccountClient from "../client/account/AccountClient.ts"
import * as GatewayClient from "../client/GatewayClient.ts"
import { apiKey, systemAccessToken } from "../contract/Credentials.ts"
import { Failure } from "../contract/Failure.ts"
import { parseJson } from "../contract/Fields.ts"
import type { GatewayReason } from "../contract/GatewayError.ts"
import type { Account } from "../gateway/Account.ts"
import { Gateway } from "../gateway/Gateway.ts"
import type { Images } from "../gateway/Images.ts"
import { RETRY_NEVER } from "../gateway/RetryPolicy.ts"
import type { Videos } from "../gateway/Videos.ts"
import {
  ACCESS_TOKEN,
  API_KEY,
  CALLS,
  emptyImage,
  type FakeRequestBody,
  findCall,
  grantsAccess,
  handlers,
  makeWorld,
  MODELS,
  refusedReply,
  type Reply,
  type World
} from "./ReferenceGateway.ts"

/** A call of the gateway, or `images.load`, the download of a link to an image. */
export type TestCall = (typeof CALLS)[keyof typeof CALLS]["name"] | "images.load"

/** A request that the gateway received. */
export interface TestRequest {
  readonly call: TestCall
  /** When, by the program's clock, in ms. */
  readonly at: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The JSON body; undefined without one. */
  readonly body: unknown
}

/** One reason for every call; or one for each call in turn, `undefined` for a success and at the end; or by the request. */
export type TestFault =
  | GatewayReason
  | ReadonlyArray<GatewayReason | undefined>
  | ((request: TestRequest) => GatewayReason | undefined)

/**
 * What the gateway does, and the options of its clients.
 *
 * `retry` is `RETRY_NEVER` when not given: each call is one attempt, which fails with its fault.
 */
export interface TestGatewayOptions extends Omit<GatewayClient.GatewayClientOptions, "baseUrl" | "apiKey"> {
  /** The time until a response, by the program's clock. Default: none. */
  readonly latency?: Duration.Input | ((request: TestRequest) => Duration.Input) | undefined
  /**
   * How calls fail. The client gets the response of a gateway that fails so: `RateLimited` is a 429 with its `retryAfter`,
   * `Unreachable` no connection, `TimedOut` no response, `InvalidResponse` a response that is no JSON.
   */
  readonly faults?: { readonly [Call in TestCall]?: TestFault | undefined } | undefined
  /** Replaces responses, such as the text of a chat. The gateway's own for `undefined`. */
  readonly respond?: ((request: TestRequest) => Response | Effect.Effect<Response> | undefined) | undefined
}

type Effectful<Service extends object> = Layer.PartialEffectful<Service>

/** The calls of a `Gateway` that a test needs. */
export interface GatewayMock extends Partial<Omit<Gateway["Service"], "images" | "videos">> {
  readonly images?: Effectful<Images>
  readonly videos?: Effectful<Videos>
}

const toResponse = ({ bytes, events = [], headers, json, status = 200 }: Reply): Response => {
  if (json !== undefined) return Response.json(json, { status, headers: { ...headers } })
  if (bytes !== undefined) return new Response(Uint8Array.from(bytes), { status, headers: { ...headers } })
  const lines = events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}`)
  return new Response(lines.map((line) => `${line}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" }
  })
}

/** The response of a gateway that fails for this reason. */
const failedResponse = (
  reason: GatewayReason,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<Response, HttpClientError.HttpClientError> => {
  if (reason._tag === "PartialFailure") return failedResponse(reason.first, request)
  if (reason._tag === "TimedOut") return Effect.never
  if (reason._tag === "Unreachable") {
    const failure = new HttpClientError.TransportError({ request, cause: new Error(reason.message) })
    return Effect.fail(new HttpClientError.HttpClientError({ reason: failure }))
  }
  if (reason._tag === "InvalidResponse") return Effect.sync(() => new Response(reason.message))
  if (reason._tag === "TaskFailed") {
    const { error = { message: reason.message }, task } = reason
    return Effect.sync(() => Response.json({ id: task || "task-1", status: "failed", error }))
  }
  const { body, headers, status } = Failure.fromReason(reason)
  const given = "status" in reason ? (reason.status ?? status) : status
  return Effect.sync(() => Response.json(body, { status: given, headers: { ...headers } }))
}

const BASE_URL = "http://gateway.test"

/** The call of a request. Only links to images have other hosts. */
const routeOf = (method: string, { origin, pathname }: URL) => {
  const found = origin === BASE_URL ? findCall(handlers, method, pathname) : undefined
  const call: TestCall = found === undefined ? "images.load" : CALLS[found.name as keyof typeof CALLS].name
  return { call, found }
}

const ownResponse = (
  world: World,
  { found }: ReturnType<typeof routeOf>,
  { pathname, searchParams: query }: URL,
  { body, headers }: TestRequest
): Reply => {
  if (found === undefined) {
    return { bytes: emptyImage("png", 1, 1), headers: { "content-type": "image/png" } }
  }
  const isAllowed = grantsAccess(world, pathname, headers["authorization"]?.replace("Bearer ", "") ?? "")
  if (!isAllowed) return refusedReply(401, "The credential opens nothing here")
  return found.handler({ world, params: found.params, query, body: body as FakeRequestBody })
}

const makeTransport = (
  { faults = {}, latency = 0, respond }: TestGatewayOptions,
  requests: Array<TestRequest>
) => {
  const world = makeWorld(true)
  const faultOf = (request: TestRequest): GatewayReason | undefined => {
    const fault = faults[request.call]
    if (typeof fault === "function") return fault(request)
    if (!Array.isArray(fault)) return fault as GatewayReason | undefined
    return fault[requests.filter(({ call }) => call === request.call).indexOf(request)]
  }
  return HttpClient.make((http, url) =>
    Effect.gen(function* () {
      const { body, headers, method } = http
      const json = body._tag === "Uint8Array" ? parseJson(new TextDecoder().decode(body.body)) : undefined
      const route = routeOf(method, url)
      const request = { call: route.call, at: yield* Clock.currentTimeMillis, headers, body: json }
      requests.push(request)
      yield* Effect.sleep(typeof latency === "function" ? latency(request) : latency)
      const fault = faultOf(request)
      if (fault !== undefined) return yield* failedResponse(fault, http)
      const given = respond?.(request)
      if (given !== undefined) return Effect.isEffect(given) ? yield* given : given
      return toResponse(ownResponse(world, route, url, request))
    }).pipe(Effect.map((response) => HttpClientResponse.fromWeb(http, response)))
  )
}

const ImagesMock = Context.Service<Images>("@sluice/core/testing/Images")
const VideosMock = Context.Service<Videos>("@sluice/core/testing/Videos")

/**
 * A gateway in the process, for tests of programs: every call, without a network.
 *
 * **When to use.** To test what a program does with answers, slow calls and failures. For answers that mean something,
 * use the models of `@sluice/embedded`.
 *
 * **Details.** The real client calls it, with its checks, time-outs, retries, spans and metrics. Every model id is accepted.
 * Vectors count letters, reranking counts common words, a chat says "Green." ("Red." about images). Tasks complete at the
 * second poll; image requests are tasks for models whose id contains `two-step`. All times are the program's clock's, so
 * that `TestClock` drives them. Each layer has its own state.
 *
 * ```ts
 * const slow = TestGateway.layer({ latency: "2 seconds", faults: { rerank: new RateLimited({ message: "Busy" }) } })
 * ```
 */
export class TestGateway extends Context.Service<
  TestGateway,
  {
    /** Every request so far. */
    readonly requests: ReadonlyArray<TestRequest>
  }
>()("@sluice/core/testing/TestGateway") {
  /** The models of `gateway.models`. Others are accepted too. */
  static readonly models = MODELS

  static readonly layer = (options: TestGatewayOptions = {}): Layer.Layer<TestGateway | Gateway | Account> =>
    Layer.suspend(() => {
      const requests: Array<TestRequest> = []
      const clients = { baseUrl: BASE_URL, retry: RETRY_NEVER, ...options }
      const accessToken = systemAccessToken(ACCESS_TOKEN)
      return Layer.mergeAll(
        Layer.succeed(TestGateway, { requests }),
        GatewayClient.layerWithoutTransport({ apiKey: apiKey(API_KEY), ...clients }),
        AccountClient.layerAccountWithoutTransport({ ...clients, accessToken })
      ).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, makeTransport(options, requests))),
        Layer.orDie
      )
    })

  /**
   * A `Gateway` with only these calls. Another call is a defect.
   *
   * **Details.** `Layer.mock` alone requires `images` and `videos`, because it makes only effects and functions optional,
   * not records of them.
   */
  static readonly mock = ({ images = {}, videos = {}, ...calls }: GatewayMock): Layer.Layer<Gateway> =>
    Layer.merge(Layer.mock(ImagesMock, images), Layer.mock(VideosMock, videos)).pipe(
      Layer.flatMap((mocks) =>
        Layer.mock(Gateway, {
          ...calls,
          images: Context.get(mocks, ImagesMock),
          videos: Context.get(mocks, VideosMock)
        })
      )
    )
}
