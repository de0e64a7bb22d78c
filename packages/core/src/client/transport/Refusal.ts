/** Turns an answer that is not a success into its reason. */
import { Clock, Effect } from "effect"
import type { HttpClientResponse } from "effect/http"
import { reasonOfStatus } from "../../contract/Failure.ts"
import { parseJson } from "../../contract/Fields.ts"
import { retryAfter, shouldRetry } from "./RetryHeaders.ts"
import { parseErrorBody } from "./ErrorDetails.ts"
import { isEncoded } from "./BufferedTransport.ts"

/** The `code` of the reason where a call was led elsewhere and the gateway gave none of its own. */
export const REDIRECTED = "redirected"

const isRedirect = (status: number): boolean => status >= 300 && status < 400

/** Reads the answer to its end, so that its connection serves again, and says why the call was refused. */
export const refusal = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { headers, status } = response
  const raw = yield* Effect.orElseSucceed(response.text, () => "")
  const told = parseErrorBody(parseJson(raw))
  const said = told?.message ?? describe(status, headers, raw)
  return reasonOfStatus({
    status,
    message: [said, advice(status, told === undefined)].filter(Boolean).join(" "),
    param: told?.param,
    code: told?.code ?? (isRedirect(status) ? REDIRECTED : undefined),
    retryAfter: retryAfter(headers, yield* Clock.currentTimeMillis),
    shouldRetry: shouldRetry(headers)
  })
})

const describe = (
  status: number,
  headers: HttpClientResponse.HttpClientResponse["headers"],
  raw: string
): string => {
  if (isCompressed(headers))
    return `Status ${status}, with a body that is compressed, which was not asked for.`
  const shown = raw
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 120)
  return shown === ""
    ? `Status ${status} without a message.`
    : `Status ${status}, ${headers["content-type"] ?? "no type"}: “${shown}”.`
}

/** Nothing is decompressed: a small answer could become a huge one. `accept-encoding: identity` says so. */
export const isCompressed = (headers: HttpClientResponse.HttpClientResponse["headers"]): boolean =>
  isEncoded(headers["content-encoding"])

const advice = (status: number, foreign: boolean): string => {
  if (status === 404 && foreign) return "Check the base URL: the paths begin at its end with /v1 or /api."
  if (isRedirect(status)) return "Redirects are not followed: give the address they lead to."
  return ""
}
