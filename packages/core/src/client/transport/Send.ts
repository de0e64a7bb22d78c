/** Sends the calls of the contract: path, method and schemas come from the endpoint, and its headers are made once. */
import { Context, Effect, Function, Option, Redacted, type Schema } from "effect"
import {
  Headers,
  HttpBody,
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse,
  UrlParams
} from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { compileEncoder } from "./CompiledDecoder.ts"
import { BufferResponse } from "./DispatcherTransport.ts"
import { IdempotencyKey, ownHeaders, type RequestHeaders } from "./Outgoing.ts"

type Part<Name extends string, S extends { readonly Type: unknown }> = [S] extends [never]
  ? {}
  : { readonly [name in Name]: S["Type"] }

/** What a call of an endpoint sends. */
type Input<E extends HttpApiEndpoint.ConstraintRequest> = Part<"params", E["~Params"]> &
  Part<"query", E["~Query"]> &
  Part<"payload", E["~Payload"]>

type Sent = Effect.Effect<
  HttpClientResponse.HttpClientResponse,
  HttpClientError.HttpClientError | Schema.SchemaError
>

/** Makes the call of an endpoint, once: its encoders are compiled. */
export type Send = <E extends HttpApiEndpoint.ConstraintRequest>(endpoint: E) => (input: Input<E>) => Sent

export interface SendOptions {
  readonly baseUrl: string
  readonly credential: Redacted.Redacted
  readonly headers?: RequestHeaders | undefined
  /** Whether responses are complete when they are returned: a third of the time of a stream. */
  readonly isBuffered: boolean
}

/** An endpoint as a value: its type lacks the schemas. */
type Endpoint = Pick<HttpApiEndpoint.Top, "method" | "path" | "params" | "query" | "payload">

/** What a call of any endpoint sends. */
type Parts = { readonly [part in "params" | "query" | "payload"]?: unknown }

type Encoded = Readonly<Record<string, string>>

/** Encodes a part of the request; `absent` if the endpoint does not declare it. */
const encodePart = <I, A>(
  schema: Schema.Top | undefined,
  make: (encoded: I) => A,
  absent: A
): ((value: unknown) => Effect.Effect<A, Schema.SchemaError>) => {
  if (schema === undefined) return () => Effect.succeed(absent)
  const encode = compileEncoder(schema as unknown as Schema.Codec<unknown, I>)
  return (value) => Effect.mapEager(encode(value), make)
}

const pathWith = (path: string, params: Encoded): string =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))

const JSON_TYPE = "application/json"

/**
 * The calls of one client.
 *
 * **Details.** Requests have no span, because it would store texts and echoed credentials; the call has one. A response is
 * returned whatever its status.
 */
export const makeSend = (client: HttpClient.HttpClient, options: SendOptions): Send => {
  const { baseUrl, credential, headers, isBuffered } = options
  const own = { authorization: `Bearer ${Redacted.value(credential)}`, ...ownHeaders(headers) }
  const references = Context.make(HttpClient.TracerDisabledWhen, () => true).pipe(
    Context.add(BufferResponse, isBuffered)
  )
  const make = Function.memoize(({ method, params, path, payload, query }: Endpoint) => {
    const schema = [...payload.values()][0]?.schemas[0]
    const urlOf = encodePart(params, (encoded: Encoded) => baseUrl + pathWith(path, encoded), baseUrl + path)
    const urlParamsOf = encodePart(query, (encoded: Encoded) => UrlParams.fromInput(encoded), UrlParams.empty)
    const bodyOf = encodePart(
      schema,
      (json: unknown): HttpBody.HttpBody => HttpBody.text(JSON.stringify(json), JSON_TYPE),
      HttpBody.empty
    )
    const fixed = Headers.fromInput({ ...(schema && { "content-type": JSON_TYPE }), ...own })

    const execute = (url: string, urlParams: UrlParams.UrlParams, body: HttpBody.HttpBody) =>
      Effect.withFiber<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>((fiber) => {
        const key = fiber.getRef(IdempotencyKey)
        const all = key === undefined ? fixed : Headers.set(fixed, "idempotency-key", key)
        return client.execute(HttpClientRequest.makeWith(method, url, urlParams, Option.none(), all, body))
      })
    return (input: Parts): Sent => {
      const sent = Effect.flatMapEager(urlOf(input.params), (url) =>
        Effect.flatMapEager(urlParamsOf(input.query), (urlParams) =>
          Effect.flatMapEager(bodyOf(input.payload), (body) => execute(url, urlParams, body))
        )
      )
      return Effect.provideContext(sent, references)
    }
  })
  return (endpoint) => make(endpoint as unknown as Endpoint)
}
