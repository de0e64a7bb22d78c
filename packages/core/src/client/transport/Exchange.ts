/** One request and its answer, checked in its form: the smallest step of a call, and what can go wrong in it. */
import { Effect, Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { Failure, reasonOfStatus } from "../../contract/Failure.ts"
import {
  type GatewayReason,
  InvalidRequest,
  InvalidResponse,
  Unreachable
} from "../../contract/GatewayError.ts"
import { parseJson } from "../../contract/Fields.ts"
import type { CallResult, Problem } from "./Answer.ts"
import { isCompressed, refusal } from "./Refusal.ts"
import { factsOf } from "./Facts.ts"
import { reasonOfErrorDetails, parseErrorBody } from "./ErrorDetails.ts"
import { faultOf, isBadAnswer, isBroken, isUnconnected } from "./Transport.ts"

export type { CallResult, Problem } from "./Answer.ts"

type SendError = HttpClientError.HttpClientError | Schema.SchemaError
type DecodeError = SendError | Failure

/**
 * Sends, reads, decodes. A status other than 2xx becomes its reason; the body is always read to its end.
 *
 * `baseUrl` where the request may go to another host than the gateway.
 */
export const exchange = <A>(
  send: Effect.Effect<HttpClientResponse.HttpClientResponse, SendError | Failure>,
  decode: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, DecodeError>,
  baseUrl?: string
): Effect.Effect<CallResult<A>, Problem> =>
  Effect.matchEffect(send, {
    onFailure: (error) => {
      const reason = notSent(error, baseUrl)
      const local = reason._tag === "InvalidRequest"
      return Effect.fail<Problem>({ reason, requestId: undefined, notExecuted: isUnsent(error), local })
    },
    onSuccess: (response) => {
      const requestId = requestIdOf(response.headers)
      if (response.status < 200 || response.status >= 300) {
        const notExecuted = response.status === 429
        return Effect.flatMap(refusal(response), (reason) =>
          Effect.fail<Problem>({ reason, requestId, notExecuted })
        )
      }
      if (isCompressed(response.headers)) {
        const message = `The answer is compressed (${response.headers["content-encoding"]}), which was not asked for.`
        return Effect.fail<Problem>({ reason: new InvalidResponse({ message }), requestId })
      }
      return Effect.matchEffect(decode(response), {
        onFailure: (error) =>
          Effect.flatMap(deniedIn(response, error), (reason) => Effect.fail<Problem>({ reason, requestId })),
        onSuccess: (value) => Effect.succeed<CallResult<A>>({ value, requestId, facts: factsOf(value) })
      })
    }
  })

/** Which request it was, as gateways say it. */
export const requestIdOf = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
) => {
  const id = headers["x-request-id"] ?? headers["request-id"]
  return typeof id === "string" ? id : id?.[0]
}

/** Some gateways refuse with status 200: what does not have the form of an answer may have that of a refusal. */
const deniedIn = (response: HttpClientResponse.HttpClientResponse, error: DecodeError) =>
  Schema.isSchemaError(error)
    ? response.text.pipe(
        Effect.map((text) => parseErrorBody(parseJson(text))),
        Effect.map((told) => (told === undefined ? notUnderstood(error) : reasonOfErrorDetails(told))),
        Effect.orElseSucceed(() => notUnderstood(error))
      )
    : Effect.succeed(notUnderstood(error))

/** Judges a well-formed answer; which request it was stays known. */
export const judge =
  <A, B>(judgement: (value: A) => Effect.Effect<B, GatewayReason>) =>
  (self: Effect.Effect<CallResult<A>, Problem>): Effect.Effect<CallResult<B>, Problem> =>
    Effect.flatMap(self, ({ requestId, value, ...rest }) =>
      Effect.matchEffect(judgement(value), {
        onFailure: (reason) => Effect.fail<Problem>({ reason, requestId }),
        onSuccess: (judged) => Effect.succeed<CallResult<B>>({ value: judged, requestId, ...rest })
      })
    )

const notSent = (error: DecodeError, baseUrl?: string): GatewayReason => {
  if (error instanceof Failure) return reasonOfStatus(error)
  if (Schema.isSchemaError(error))
    return new InvalidRequest({ message: `The request is not valid: ${said(error)}` })
  if (error.reason._tag !== "TransportError") return new InvalidRequest({ message: error.message })
  const { code, message } = faultOf(error.reason.cause)
  const url = baseUrl === undefined ? null : URL.parse(error.reason.request.url)
  const other = url !== null && url.origin !== URL.parse(baseUrl ?? "")?.origin ? url.host : undefined
  const address = other === undefined ? "the base URL" : "its address"
  if (isBadAnswer(code)) {
    return new InvalidResponse({
      message: `${other ?? "What answered"} does not speak HTTP (${message}). Check ${address}.`
    })
  }
  if (isBroken(code))
    return new Unreachable({ message: `The connection broke before the answer was there: ${message}.` })
  return new Unreachable({
    message: `${other ?? "The gateway"} cannot be reached: ${message}. Check ${address} and the network.`
  })
}

const isUnsent = (error: DecodeError): boolean =>
  !(error instanceof Failure) &&
  !Schema.isSchemaError(error) &&
  error.reason._tag === "TransportError" &&
  isUnconnected(error.reason.cause)

/** Why the bytes of a 2xx answer are not what the contract says. */
export const notUnderstood = (error: DecodeError): GatewayReason => {
  if (Schema.isSchemaError(error)) {
    return new InvalidResponse({
      message: `The answer does not have the form of the contract: ${said(error)}`
    })
  }
  if (error instanceof Failure) return reasonOfStatus(error)
  const { code, message } = faultOf("cause" in error.reason ? error.reason.cause : undefined)
  if (isBroken(code)) return new Unreachable({ message: `The connection broke in mid-answer: ${message}` })
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
    return new InvalidResponse({ message: "The answer is larger than `maxResponseBytes` allows." })
  }
  return new InvalidResponse({ message: `The answer cannot be read: ${error.reason.message}` })
}

const said = (error: Schema.SchemaError): string => error.message.replace(/\s+/g, " ").slice(0, 300)
