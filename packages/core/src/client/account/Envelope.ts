/** Attempts at calls of `/api`: unwraps the envelope, or finds the refusal that came with status 200. */
import { Effect, Redacted, type Schema } from "effect"
import type { HttpClientResponse } from "effect/http"
import { type Extra, parseJson } from "../../contract/Fields.ts"
import { type GatewayReason, InvalidResponse, NotFound } from "../../contract/GatewayError.ts"
import type { Attempt } from "../call/CallInfo.ts"
import { isRefused, parseErrorBody, reasonOfErrorDetails } from "../transport/ErrorDetails.ts"
import { isWebPage, wrongBaseUrl } from "../transport/WebPage.ts"
import { mapResult, responseText, type SendError, sendAndDecode } from "../transport/SendAndDecode.ts"

interface Refusal {
  readonly success: false
  readonly message?: string | undefined
  readonly extra?: Extra
}

/** How gateways of this family say that a record does not exist: in the words of their database, or in Chinese. */
const ABSENT = /not found|no such|不存在/i

/** The reason of a refusal with status 200: by its code or its message, else `Forbidden`. */
const refusalReason = (body: unknown): GatewayReason => {
  const { code, message = "The gateway refused and did not say why.", param } = parseErrorBody(body) ?? {}
  return code === undefined && ABSENT.test(message)
    ? new NotFound({ message })
    : reasonOfErrorDetails({ code, message, param }, 403)
}

type Response = HttpClientResponse.HttpClientResponse
type Send = Effect.Effect<Response, SendError>

/** The `data` of an envelope. */
export const sendForData = <D>(
  send: Send,
  decode: (response: Response) => Effect.Effect<{ readonly data: D } | Refusal, SendError>
): Attempt<D> =>
  mapResult((body: { readonly data: D } | Refusal) =>
    "data" in body ? Effect.succeed(body.data) : Effect.fail(refusalReason({ ...body.extra, ...body }))
  )(sendAndDecode(send, decode))

/**
 * A body whose form the interface does not define: JSON, text, or nothing (`null`).
 *
 * **Details.** Redacted, because it may contain a credential and spans store results. HTML is refused: it does not come
 * from the gateway's API, so the call had no effect.
 */
export const sendForBody = (send: Send): Attempt<Redacted.Redacted<Schema.Json>> =>
  mapResult(parseBody)(sendAndDecode(send, responseText))

const parseBody = (text: string) => {
  const json = parseJson(text)
  const body = text.trim() === "" ? null : json === undefined ? text : json
  if (typeof body === "string" && isWebPage(body)) {
    return Effect.fail(new InvalidResponse({ message: wrongBaseUrl(body) }))
  }
  return isRefused(body)
    ? Effect.fail(refusalReason(body))
    : Effect.succeed(Redacted.make(body as Schema.Json, { label: "answer" }))
}
