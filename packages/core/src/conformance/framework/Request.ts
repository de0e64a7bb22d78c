/** Sends requests without schemas, and polls tasks. Retries only after 429, and follows redirects only for files. */
import { Clock, Duration, Effect, Predicate, type Redacted, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse, type HttpMethod } from "effect/http"
import { makeMp4Reader } from "../../client/media/Mp4.ts"
import { withRedirects } from "../../client/transport/Redirects.ts"
import { retryAfter } from "../../client/transport/Refusal.ts"
import { parseJson } from "../../contract/Fields.ts"
import type { CallName } from "./Contract.ts"
import { at, failUnless } from "./Rule.ts"
import type { Session } from "./Session.ts"

export interface CheckRequest {
  /** One value for each `{}` of the path. */
  readonly params?: ReadonlyArray<string | number>
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: Readonly<Record<string, unknown>>
}

export interface GatewayResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The first 64 KiB of a file, else the whole body up to 64 MiB. */
  readonly bytes: Uint8Array
  readonly text: string
  /** True if the body is a complete MP4 file. */
  readonly isFilm: boolean
  /** Undefined if the body is not JSON. */
  readonly json: unknown
}

/** No complete response: no connection, a broken connection, or a timeout. */
export class NoResponse extends Schema.TaggedError<NoResponse>()("NoResponse", { message: Schema.String }) {}

/** The most bytes kept of a body: enough for a 4K image in Base64. */
const MAX_BODY_BYTES = 64 * 1024 * 1024
/** The most bytes kept of a file: its header. The rest is only checked for completeness. */
const MAX_FILE_BYTES = 64 * 1024

/** Retries after 429, which means that nothing was executed. */
const RATE_LIMITED_TRIES = 3
const RATE_LIMITED_WAIT = Duration.seconds(2)
const RATE_LIMITED_LONGEST = Duration.seconds(30)

const isFile = ({ headers }: HttpClientResponse.HttpClientResponse) =>
  /^(video|image|audio|application\/(octet-stream|mp4))\b/i.test(headers["content-type"] ?? "")

/** Reads a file to its end, and any other body up to the limit. */
const readBody = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.suspend(() => {
    const file = isFile(response)
    const most = file ? MAX_FILE_BYTES : MAX_BODY_BYTES
    const film = makeMp4Reader()
    const kept: Array<Uint8Array> = []
    let size = 0
    let isMp4 = true
    return response.stream.pipe(
      Stream.takeUntil((chunk) => {
        if (size < most) kept.push(chunk)
        size += chunk.length
        isMp4 &&= film.push(chunk)
        return size >= most && !(file && isMp4)
      }),
      Stream.runDrain,
      Effect.map(() => ({ bytes: new Uint8Array(Buffer.concat(kept)), isFilm: isMp4 && film.isComplete() }))
    )
  })

/** Sends a request, with or without a credential, and reads the response within `timeout`. */
export const sendRequest = (
  baseUrl: string,
  call: CallName,
  { body, params = [], query = {} }: CheckRequest,
  credential: Redacted.Redacted | undefined,
  timeout: Duration.Duration
): Effect.Effect<GatewayResponse, NoResponse, HttpClient.HttpClient> => {
  const [method, path] = call.split(" ") as [HttpMethod.HttpMethod, string]
  const rest = [...params]
  const url = baseUrl + path.replaceAll("{}", () => encodeURIComponent(rest.shift() ?? ""))
  const request = HttpClientRequest.make(method)(url).pipe(
    HttpClientRequest.setUrlParams(query),
    HttpClientRequest.acceptJson,
    body === undefined ? (request) => request : HttpClientRequest.bodyJsonUnsafe(body),
    credential === undefined ? (request) => request : HttpClientRequest.bearerToken(credential)
  )
  const once = Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    // Files may be stored on another host; the credential is not sent there.
    const isFilePath = path.endsWith("/content")
    const response = yield* (isFilePath ? withRedirects(client, baseUrl) : client).execute(request)
    const body = yield* readBody(response)
    const text = new TextDecoder().decode(body.bytes)
    const { headers, status } = response
    return { status, headers, ...body, text, json: parseJson(text) } satisfies GatewayResponse
  }).pipe(
    Effect.mapError(({ reason }) => new NoResponse({ message: `No response: ${causeOf(reason)}` })),
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.fail(new NoResponse({ message: `No complete response within ${Duration.format(timeout)}` }))
    })
  )
  return Effect.gen(function* () {
    for (let left = RATE_LIMITED_TRIES; ; left--) {
      const response = yield* once
      if (response.status !== 429 || left === 0) return response
      const wait = retryAfter(response.headers, yield* Clock.currentTimeMillis) ?? RATE_LIMITED_WAIT
      yield* Effect.sleep(Duration.min(wait, RATE_LIMITED_LONGEST))
    }
  })
}

/** Downloads the first part of a file from any host, without a credential. */
export const download = (url: string) =>
  HttpClient.get(url).pipe(
    Effect.flatMap(readBody),
    Effect.map(({ bytes }) => bytes),
    Effect.timeout("30 seconds")
  )

const causeOf = (reason: { readonly _tag: string; readonly cause?: unknown }): string => {
  const cause = reason.cause instanceof AggregateError ? reason.cause.errors[0] : reason.cause
  return cause instanceof Error && cause.message !== "" ? cause.message : reason._tag
}

/**
 * Why a response is a refusal; undefined if it is a success.
 *
 * Gateways of this family also send refusals with status 200.
 */
export const refusalIn = ({ json, status, text }: GatewayResponse): string | undefined => {
  const message = at(json, "error", "message") ?? at(json, "message") ?? at(json, "error")
  const summary = typeof message === "string" ? message : text.replaceAll(/<[^<>]*>|\s+/g, " ").trim()
  const quoted = summary === "" ? "without a body" : `“${summary.slice(0, 120)}”`
  if (status < 200 || status >= 300) return `status ${status}, ${quoted}`
  if (!Predicate.isObject(json)) return undefined
  // A failed task carries `error`; the request itself succeeded.
  const isTask = json["id"] !== undefined || typeof json["status"] === "string"
  const denied = json["success"] === false || (Predicate.isObject(json["error"]) && !isTask)
  return denied ? `status ${status} with a refusal, ${quoted}` : undefined
}

/** Accepts a response with this status, and with this `param` if given. */
export const hasStatus =
  (expected: number, param?: string) =>
  ({ json, status }: GatewayResponse): string | undefined => {
    const matches = status === expected && (param === undefined || at(json, "error", "param") === param)
    return failUnless(matches, `status ${status}`)
  }

const TASK_TIMEOUT = Duration.minutes(15)

/** The `status` of a task. */
export const statusOf = ({ json }: GatewayResponse): unknown => at(json, "status")

/** True for `completed` and `failed`; an unknown status counts as unfinished. */
export const isTaskFinished = (status: unknown): status is "completed" | "failed" =>
  status === "completed" || status === "failed"

/**
 * The responses of a task, from `first` to the finished one.
 *
 * Also stops after a refusal, a missing response, or `taskTimeout`.
 */
export const poll = Effect.fnUntraced(function* (
  first: GatewayResponse,
  get: Effect.Effect<GatewayResponse, NoResponse, HttpClient.HttpClient>,
  { pollInterval, taskTimeout }: Session["options"],
  every: Duration.Input
) {
  const responses = [first]
  const start = yield* Clock.currentTimeMillis
  const longest = Duration.toMillis(Duration.fromInputUnsafe(taskTimeout ?? TASK_TIMEOUT))
  for (let last = first; !isTaskFinished(statusOf(last));) {
    if ((yield* Clock.currentTimeMillis) - start >= longest) break
    yield* Effect.sleep(pollInterval ?? every)
    const next = yield* Effect.result(get)
    if (next._tag === "Failure" || refusalIn(next.success) !== undefined) break
    last = next.success
    responses.push(last)
  }
  return responses
})
