/**
 * The routes of chat, embeddings and rerank.
 *
 * They do not use `HttpApiBuilder`, whose steps around a handler cost more than the rest of the call (docs/decisions/0016).
 */
import {
  ChatEvent,
  ChatRequest,
  ChatResponse,
  EmbeddingRequest,
  EmbeddingResponse,
  Failure,
  malformedRequest,
  RerankRequest,
  RerankResponse
} from "@sluice/core/contract"
import { parseJson } from "@sluice/core/client"
import { Effect, Result, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { CallerInfo } from "../accounts/Caller.ts"
import { makeApiAuthentication } from "../accounts/Auth.ts"
import { chatMeter, embeddingsMeter, type Meter, rerankMeter } from "../billing/Meter.ts"
import { checkParts, yieldIfLarge } from "../http/BodyParts.ts"
import { internalFailure, respond } from "../http/HttpErrors.ts"
import type { ProviderResponse, Operation, Operations } from "../routing/Provider.ts"
import { Providers } from "../routing/Providers.ts"
import { jsonInPortions } from "../wire/JsonPortions.ts"
import { finalEvent } from "../wire/ServerSentEvents.ts"
import { applyTokenLimit } from "./ChatLimit.ts"
import { checkChatImages } from "./RequestImages.ts"
import { makeLibraryCall } from "./LibraryCall.ts"
import { makeModelCall } from "./ModelCall.ts"

type HttpRequest = HttpServerRequest.HttpServerRequest

type ModelCall<Request> = (
  http: HttpRequest,
  caller: CallerInfo,
  request: Request,
  body: string
) => Effect.Effect<ProviderResponse<unknown>, Failure, HttpRequest>

/** An endpoint that accepts JSON and calls a model. */
interface ModelEndpoint<Request extends { readonly model: string }, Response> {
  readonly paths: ReadonlyArray<HttpRouter.PathInput>
  readonly request: Schema.Codec<Request, unknown>
  readonly response: Schema.Codec<Response, unknown>
  readonly meter: Meter<Request>
  readonly pick: (operations: Operations) => Operation<Request, unknown> | undefined
  /** The call of a model that no provider serves. Undefined for other models. */
  readonly callOther?: (
    ...given: Parameters<ModelCall<Request>>
  ) => ReturnType<ModelCall<Request>> | undefined
  /** Checks and adjusts the request and the body that is passed on. */
  readonly prepare?: (
    request: Request,
    body: string
  ) => Effect.Effect<{ readonly request: Request; readonly body: string }, Failure>
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

const unsupported = HttpServerResponse.empty({ status: 415 })
const notJson = new Failure({
  status: 400,
  message: "The payload of the request is not valid: Expected a valid JSON body"
})

/** Decodes a JSON body by the contract. */
const decoder = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema))
  return (body: string): Effect.Effect<A, Failure> => {
    const value = parseJson(body)
    if (value === undefined && body !== "") return Effect.fail(notJson)
    const decoded = decode(value)
    return Result.isSuccess(decoded)
      ? Effect.succeed(decoded.success)
      : Effect.fail(malformedRequest("payload", decoded.failure.issue))
  }
}

const encodeEvent = Schema.encodeSync(ChatEvent)

/** A chat's events as bytes. A stream that fails ends with an error event. */
const eventBytes = (events: Stream.Stream<ChatEvent>) =>
  events.pipe(
    Stream.map((event) => {
      const { data, event: name, id } = encodeEvent(event)
      return Sse.encoder.write({ _tag: "Event", event: name, id, data })
    }),
    Stream.encodeText,
    Stream.catchCause((cause) =>
      Stream.fromEffect(
        Effect.as(Effect.logError("A stream failed", cause), finalEvent(internalFailure.body))
      )
    )
  )

/** Encodes the answer of an embedded model. An upstream's response passes unchanged. */
const encoder = <A>(schema: Schema.Codec<A, unknown>) => {
  const encode = Schema.encodeUnknownSync(Schema.toCodecJson(schema))
  return (answer: ProviderResponse<unknown>): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
    if (HttpServerResponse.isHttpServerResponse(answer)) return Effect.succeed(answer)
    return Stream.isStream(answer)
      ? Effect.succeed(
          HttpServerResponse.stream(eventBytes(answer as Stream.Stream<ChatEvent>), {
            contentType: "text/event-stream"
          })
        )
      : jsonInPortions(encode(answer) as object)
  }
}

const addRoutes = Effect.fnUntraced(function* <Request extends { readonly model: string }, Response>({
  callOther,
  meter,
  paths,
  pick,
  prepare,
  request,
  response
}: ModelEndpoint<Request, Response>) {
  const router = yield* HttpRouter.HttpRouter
  const authenticate = yield* makeApiAuthentication
  const callProvider = yield* makeModelCall(yield* Providers, meter, pick)
  const call: ModelCall<Request> = (...given) => callOther?.(...given) ?? callProvider(...given)
  const decode = decoder(request)
  const encode = encoder(response)

  const serve = Effect.fnUntraced(function* (http: HttpRequest) {
    const caller: CallerInfo = yield* authenticate(http)
    if (!JSON_TYPE.test(http.headers["content-type"] ?? "application/json")) return unsupported
    const body = yield* Effect.orDie(http.text)
    yield* checkParts(body)
    yield* yieldIfLarge(body)
    const decoded = yield* decode(body)
    yield* yieldIfLarge(body)
    if (prepare === undefined) return yield* encode(yield* call(http, caller, decoded, body))
    const prepared = yield* prepare(decoded, body)
    return yield* encode(yield* call(http, caller, prepared.request, prepared.body))
  })
  const handler = Effect.flatMap(HttpServerRequest.HttpServerRequest, (http) =>
    Effect.catchTag(serve(http), "Failure", (failure) => Effect.succeed(respond(failure)))
  )
  for (const path of paths) yield* router.add("POST", path, handler)
})

export const ModelRoutesLayer = HttpRouter.use(() =>
  Effect.gen(function* () {
    const libraryCall = yield* makeLibraryCall
    yield* Effect.all(
      [
        addRoutes({
          paths: ["/v1/chat/completions"],
          request: ChatRequest,
          response: ChatResponse,
          meter: chatMeter,
          callOther: libraryCall,
          pick: ({ chat }) => chat,
          prepare: (request, body) =>
            Effect.tap(applyTokenLimit(request, body), ({ request }) => checkChatImages(request))
        }),
        addRoutes({
          paths: ["/v1/embeddings"],
          request: EmbeddingRequest,
          response: EmbeddingResponse,
          meter: embeddingsMeter,
          pick: ({ embeddings }) => embeddings
        }),
        addRoutes({
          // Cohere's newer clients use version 2.
          paths: ["/v1/rerank", "/v2/rerank"],
          request: RerankRequest,
          response: RerankResponse,
          meter: rerankMeter,
          pick: ({ rerank }) => rerank
        })
      ],
      { discard: true }
    )
  })
)
