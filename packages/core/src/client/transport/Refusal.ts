/** Turns a response with another status than 2xx into its reason. */
import { Clock, Duration, Effect, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { reasonOfStatus } from "../../contract/Failure.ts"
import { parseJson } from "../../contract/Fields.ts"
import { WEB_PAGE } from "../../contract/GatewayError.ts"
import { isEncoded } from "./DispatcherTransport.ts"
import { parseErrorBody } from "./ErrorDetails.ts"
import { isWebPage, refusedByFirewall, wrongBaseUrl } from "./WebPage.ts"

type Headers = Readonly<Record<string, string | undefined>>

/** The `code` of the reason of a redirect whose body has no code. */
export const REDIRECTED = "redirected"

/** The server will not do it later either: local servers say so of a model without embeddings. */
const NOT_IMPLEMENTED = 501

const isRedirect = (status: number): boolean => status >= 300 && status < 400

/** What a web page with this status means. */
const PAGES: { readonly [status: number]: (status: number, page: string) => string } = {
  403: refusedByFirewall,
  404: (_, page) => wrongBaseUrl(page),
  405: (_, page) => wrongBaseUrl(page),
  406: refusedByFirewall
}

/** The most bytes read of a download that is not one: downloads have no limit of their own. */
const TEXT_BYTES = 64 * 1024

/** The beginning of a body. A shorter one is read to its end, so that its connection can be reused. */
export const beginningOf = ({ stream }: HttpClientResponse.HttpClientResponse): Effect.Effect<string> => {
  let room = TEXT_BYTES
  return stream.pipe(
    Stream.takeUntil(({ length }) => (room -= length) <= 0),
    Stream.catch(() => Stream.empty),
    Stream.decodeText,
    Stream.mkString
  )
}

/**
 * Reads the body and returns the reason.
 *
 * The body of a call is read whole, so that its connection can be reused: errors may repeat the request.
 */
export const refusal = Effect.fnUntraced(function* (
  response: HttpClientResponse.HttpClientResponse,
  isDownload: boolean
) {
  const { headers, status } = response
  const text = yield* isDownload ? beginningOf(response) : Effect.orElseSucceed(response.text, () => "")
  const details = parseErrorBody(parseJson(text))
  const page = details === undefined && isWebPage(text) ? PAGES[status] : undefined
  const retry = headers["x-should-retry"]
  return reasonOfStatus({
    status,
    message:
      page?.(status, text) ??
      `${details?.message ?? describe(status, headers, text)} ${advice(status, details === undefined)}`.trim(),
    param: details?.param,
    code: details?.code ?? (isRedirect(status) ? REDIRECTED : page && WEB_PAGE),
    retryAfter: retryAfter(headers, yield* Clock.currentTimeMillis),
    shouldRetry: retry === "true" ? true : retry === "false" || status === NOT_IMPLEMENTED ? false : undefined
  })
})

/** The start of a body without a known error, as plain text. */
const describe = (status: number, headers: Headers, body: string): string => {
  if (isCompressed(headers))
    return `Status ${status}, with a compressed body, which the client did not accept.`
  const text = body
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 120)
  return text === ""
    ? `Status ${status} without a message.`
    : `Status ${status}, ${headers["content-type"] ?? "no type"}: “${text}”.`
}

/** Nothing is decompressed, because a small body may become huge. Requests send `accept-encoding: identity`. */
export const isCompressed = (headers: Headers): boolean => isEncoded(headers["content-encoding"])

const advice = (status: number, isUnknownBody: boolean): string => {
  if (status === 404 && isUnknownBody) return "Check the base URL: it must not include /v1 or /api."
  return isRedirect(status) ? "Redirects are not followed: use the address that they lead to." : ""
}

/** Longer waits are cut to this one. */
const RETRY_AFTER_MAX = Duration.hours(24)

/** `Date.parse` accepts more than dates: "-5" is one in 2001. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d/

const parseNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined

/**
 * The wait that the gateway asks for: `retry-after-ms`, else `retry-after` in seconds or as a date.
 *
 * From 0 to 24 hours; undefined if the headers are missing or invalid.
 */
export const retryAfter = (headers: Headers, nowMillis: number): Duration.Duration | undefined => {
  const value = headers["retry-after"]
  const seconds = parseNumber(value)
  const date = value !== undefined && HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN
  const millis =
    parseNumber(headers["retry-after-ms"]) ??
    (seconds === undefined ? Math.max(0, date - nowMillis) : seconds * 1000)
  return Number.isNaN(millis) ? undefined : Duration.min(Duration.millis(millis), RETRY_AFTER_MAX)
}
