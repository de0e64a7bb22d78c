/** Answers of `/api`: what is in the envelope, or why the gateway refused with status 200. */
import { Effect, Redacted, type Schema } from "effect"
import { Forbidden, type GatewayReason, InvalidResponse, NotFound } from "../../contract/GatewayError.ts"
import { parseJson } from "../../contract/Fields.ts"
import { type CallResult, judge, type Problem } from "../transport/Exchange.ts"
import { parseErrorBody } from "../transport/ErrorDetails.ts"

interface Refusal {
  readonly success: false
  readonly message?: string | undefined
}

/** The family says that there is no such record as its database does, in English, or in Chinese. */
const ABSENT = /not found|no such|不存在/i

/** Why a gateway refused that answered with status 200: it says so in words alone. */
const refusedWith = (message = "The gateway refused and did not say why."): GatewayReason =>
  ABSENT.test(message) ? new NotFound({ message }) : new Forbidden({ message })

/** What the envelope carries. */
export const unwrapEnvelope: <D>(
  self: Effect.Effect<CallResult<{ readonly data: D } | Refusal>, Problem>
) => Effect.Effect<CallResult<D>, Problem> = judge((answer) =>
  "data" in answer ? Effect.succeed(answer.data) : Effect.fail(refusedWith(answer.message))
)

/**
 * The body of an answer whose form the interface does not show: JSON, a text, or nothing (`null`).
 *
 * **Details.** Redacted, for it may hold a credential, and spans keep what an effect gives. A page is no answer:
 * something else than the gateway's API sent it, and did nothing.
 */
export const unwrapAnyBody: (
  self: Effect.Effect<CallResult<string>, Problem>
) => Effect.Effect<CallResult<Redacted.Redacted<Schema.Json>>, Problem> = judge((text) => {
  const json = parseJson(text)
  const body = text.trim() === "" ? null : json === undefined ? text : json
  if (typeof body === "string" && body.trimStart().startsWith("<")) {
    const message =
      "A page came in place of an answer. Check the base URL: the paths begin at its end with /api."
    return Effect.fail(new InvalidResponse({ message }))
  }
  const refused = typeof body === "object" && body !== null && "success" in body && body.success === false
  return refused
    ? Effect.fail(refusedWith(parseErrorBody(body)?.message?.slice(0, MESSAGE_LENGTH)))
    : Effect.succeed(Redacted.make(body as Schema.Json, { label: "answer" }))
})

const MESSAGE_LENGTH = 400
