/** Turns an answer that is not a success into its reason. */
import { Clock, Effect, Option, Schema } from "effect"
import type { HttpClientResponse } from "effect/http"
import { toReason } from "../Failure.ts"
import { retryAfter, shouldRetry } from "./RetryHeaders.ts"

const text = Schema.optional(Schema.NullOr(Schema.String))

/** Error bodies as they are met: `{error: {…}}`, `{error: "…"}`, `{message}`, `{detail}`. */
const Body = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.optional(
      Schema.NullOr(
        Schema.Union([
          Schema.String,
          Schema.Struct({
            message: text,
            type: text,
            param: text,
            code: Schema.optional(Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])))
          })
        ])
      )
    ),
    message: text,
    detail: text
  })
)
const decodeBody = Schema.decodeUnknownOption(Body)

/** Longer messages are cut: a page of HTML is no message. */
const MESSAGE_LENGTH = 400

/** Reads the answer to its end, so that its connection serves again, and says why the call was refused. */
export const refusal = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { headers, status } = response
  const raw = yield* Effect.orElseSucceed(response.text, () => "")
  const body = Option.getOrUndefined(decodeBody(raw))
  const error = typeof body?.error === "string" ? { message: body.error } : (body?.error ?? undefined)
  const said =
    error?.message ?? body?.message ?? body?.detail ?? describe(status, headers["content-type"], raw)
  return toReason({
    status,
    message: [said.slice(0, MESSAGE_LENGTH), advice(status, body === undefined)].filter(Boolean).join(" "),
    param: error?.param ?? undefined,
    code: error?.code === undefined || error.code === null ? (error?.type ?? undefined) : String(error.code),
    retryAfter: retryAfter(headers, yield* Clock.currentTimeMillis),
    shouldRetry: shouldRetry(headers)
  })
})

const describe = (status: number, type: string | undefined, raw: string): string => {
  const shown = raw
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 120)
  return shown === ""
    ? `Status ${status} without a message.`
    : `Status ${status}, ${type ?? "no type"}: “${shown}”.`
}

const advice = (status: number, foreign: boolean): string => {
  if (status === 401) return "Check that the credential is whole, enabled, and the one for this path."
  if (status === 404 && foreign) return "Check the base URL: the paths begin at its end with /v1 or /api."
  if (status >= 300 && status < 400) return "Redirects are not followed: give the address they lead to."
  return ""
}
