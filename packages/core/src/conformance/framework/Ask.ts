/** One request as it goes over the wire, and the answer as it came: no schema, no retry, no redirect but for a file. */
import { Clock, Duration, Effect, Predicate, type Redacted, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { makeMp4Reader } from "../../client/media/Mp4.ts"
import { withRedirects } from "../../client/transport/Redirects.ts"
import { retryAfter } from "../../client/transport/RetryHeaders.ts"
import { jsonIn } from "../../contract/Json.ts"
import type { ContractCall } from "./Contract.ts"
import { at } from "./Json.ts"

export interface Request {
  /** What stands for each `{}` of the path. */
  readonly params?: ReadonlyArray<string>
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: Readonly<Record<string, unknown>>
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Of a file the first ones. */
  readonly bytes: Uint8Array
  readonly text: string
  /** Whether all of the body is a whole film. */
  readonly isFilm: boolean
  /** Undefined when the body is no JSON. */
  readonly json: unknown
}

/** No whole answer came: no connection, a connection that broke, or too long a wait. */
export class Unanswered extends Schema.TaggedError<Unanswered>()("Unanswered", { message: Schema.String }) {}

/** Bytes that are kept at most: room for an image of 4K in Base64. */
const KEPT = 64 * 1024 * 1024
/** Bytes of a file that are kept: it says in its first ones what it is. Whether it is whole is seen as they pass. */
const KEPT_OF_FILE = 64 * 1024

/** Waits and new tries after 429, which says that nothing was done. */
const RATE_LIMITED_TRIES = 3
const RATE_LIMITED_WAIT = Duration.seconds(2)
const RATE_LIMITED_LONGEST = Duration.seconds(30)

const isFile = ({ headers }: HttpClientResponse.HttpClientResponse) =>
  /^(video|image|audio|application\/(octet-stream|mp4))\b/i.test(headers["content-type"] ?? "")

interface Body {
  readonly bytes: Uint8Array
  readonly isFilm: boolean
}

/** A file is followed to its end; of anything else no more is read than is kept. */
const readBody = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.suspend(() => {
    const file = isFile(response)
    const most = file ? KEPT_OF_FILE : KEPT
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
      Effect.map((): Body => ({
        bytes: new Uint8Array(Buffer.concat(kept)),
        isFilm: isMp4 && film.isWhole()
      }))
    )
  })

const urlOf = (baseUrl: string, path: string, params: ReadonlyArray<string>): string => {
  const rest = [...params]
  return baseUrl + path.replaceAll("{}", () => encodeURIComponent(rest.shift() ?? ""))
}

/** A file may lie elsewhere; the credential stays here. */
const isFilePath = (path: string): boolean => path.endsWith("/content")

/** Asks, by the credential given or by none, and reads the answer within `timeout`. */
export const ask = (
  baseUrl: string,
  { method, path }: Pick<ContractCall, "method" | "path">,
  { body, params = [], query = {} }: Request,
  credential: Redacted.Redacted | undefined,
  timeout: Duration.Duration
): Effect.Effect<Answer, Unanswered, HttpClient.HttpClient> => {
  const request = HttpClientRequest.make(method)(urlOf(baseUrl, path, params)).pipe(
    HttpClientRequest.setUrlParams(query),
    HttpClientRequest.acceptJson,
    body === undefined ? (request) => request : HttpClientRequest.bodyJsonUnsafe(body),
    credential === undefined ? (request) => request : HttpClientRequest.bearerToken(credential)
  )
  const once = Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const following = isFilePath(path) ? withRedirects(client, baseUrl) : client
    const response = yield* following.execute(request)
    const { bytes, isFilm } = yield* readBody(response)
    const text = new TextDecoder().decode(bytes)
    const { headers, status } = response
    return { status, headers, bytes, isFilm, text, json: jsonIn(text) } satisfies Answer
  }).pipe(
    Effect.mapError(({ reason }) => new Unanswered({ message: `No answer: ${why(reason)}` })),
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.fail(new Unanswered({ message: `No whole answer within ${Duration.format(timeout)}` }))
    })
  )
  const again = (left: number): Effect.Effect<Answer, Unanswered, HttpClient.HttpClient> =>
    Effect.flatMap(once, (answer) =>
      answer.status !== 429 || left === 0
        ? Effect.succeed(answer)
        : Effect.gen(function* () {
            const asked = retryAfter(answer.headers, yield* Clock.currentTimeMillis) ?? RATE_LIMITED_WAIT
            yield* Effect.sleep(Duration.min(asked, RATE_LIMITED_LONGEST))
            return yield* again(left - 1)
          })
    )
  return again(RATE_LIMITED_TRIES)
}

const why = (reason: { readonly _tag: string; readonly cause?: unknown }): string => {
  const cause = reason.cause instanceof AggregateError ? reason.cause.errors[0] : reason.cause
  return cause instanceof Error && cause.message !== "" ? cause.message : reason._tag
}

/**
 * Why an answer is no success; undefined when it is one.
 *
 * Gateways of this family also refuse with status 200 and say so in the body.
 */
export const refusalOf = ({ json, status, text }: Answer): string | undefined => {
  const message = at(json, "error", "message") ?? at(json, "message") ?? at(json, "error")
  const said = typeof message === "string" ? message : text.replaceAll(/<[^<>]*>|\s+/g, " ").trim()
  const told = said === "" ? "without a body" : `“${said.slice(0, 120)}”`
  if (status < 200 || status >= 300) return `status ${status}, ${told}`
  if (!Predicate.isObject(json)) return undefined
  // A task that failed carries its error, and is what was asked for.
  const isTask = json["id"] !== undefined || typeof json["status"] === "string"
  const denied = json["success"] === false || (Predicate.isObject(json["error"]) && !isTask)
  return denied ? `status ${status} with a refusal, ${told}` : undefined
}
