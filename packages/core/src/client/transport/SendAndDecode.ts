/** One attempt of a call: sends a request, decodes the response, and turns every failure into its reason. */
import { Effect, Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { parseJson } from "../../contract/Fields.ts"
import {
  type GatewayReason,
  InvalidRequest,
  InvalidResponse,
  Unreachable
} from "../../contract/GatewayError.ts"
import { type AttemptFailure, type CallResult, responseMetadata } from "./CallResult.ts"
import { reasonOfBody } from "./ErrorDetails.ts"
import { isCompressed, refusal } from "./Refusal.ts"
import { isWebPage, wrongBaseUrl } from "./WebPage.ts"
import { isBadResponse, isBroken, isConnectFailure, transportFault } from "./Transport.ts"

export type SendError = HttpClientError.HttpClientError | Schema.SchemaError

/**
 * Sends, reads and decodes. A status other than 2xx becomes its reason; the body of a call is always read to its end.
 *
 * `baseUrl` if it is a download, which may come from another host than the gateway.
 */
export const sendAndDecode = <A>(
  send: Effect.Effect<HttpClientResponse.HttpClientResponse, SendError>,
  decode: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, SendError>,
  baseUrl?: string
): Effect.Effect<CallResult<A>, AttemptFailure> =>
  Effect.matchEffect(send, {
    onFailure: (error) => {
      const reason = sendFailure(error, baseUrl)
      const local = reason._tag === "InvalidRequest"
      return Effect.fail<AttemptFailure>({
        reason,
        notExecuted: isNotConnected(error),
        local
      })
    },
    onSuccess: (response) => {
      const requestId = requestIdOf(response.headers)
      const fail = (reason: GatewayReason, notExecuted?: true) =>
        Effect.fail<AttemptFailure>({ reason, requestId, ...(notExecuted && { notExecuted }) })
      if (response.status < 200 || response.status >= 300) {
        return Effect.flatMap(refusal(response, baseUrl !== undefined), (reason) =>
          fail(reason, response.status === 429 || undefined)
        )
      }
      if (isCompressed(response.headers)) {
        const message = `The response is compressed (${response.headers["content-encoding"]}), which the client did not accept.`
        return fail(new InvalidResponse({ message }))
      }
      return Effect.matchEffect(decode(response), {
        onFailure: (error) =>
          Effect.flatMap(bodyOf(response), (body) =>
            Effect.fail<AttemptFailure>({ reason: reasonInBody(body, error), requestId, response: body })
          ),
        onSuccess: (value) =>
          Effect.succeed<CallResult<A>>({
            value,
            requestId,
            metadata: responseMetadata(value),
            body: Effect.suspend(() => bodyOf(response))
          })
      })
    }
  })

/** The body as text, for a response without a defined form. */
export const responseText = ({ text }: HttpClientResponse.HttpClientResponse) => text

/** `x-request-id`, `x-oneapi-request-id`, `apim-request-id`, `x-trace-id` …, else Cloudflare's. */
const ID_HEADER = /(?:request|trace)-?id$/

/** The id that the gateway gave the request. */
const requestIdOf = (headers: HttpClientResponse.HttpClientResponse["headers"]): string | undefined => {
  const usual = headers["x-request-id"] ?? headers["request-id"]
  if (usual !== undefined) return usual
  const name = Object.keys(headers).find((name) => ID_HEADER.test(name)) ?? "cf-ray"
  return headers[name]
}

const bodyOf = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string | undefined> =>
  Effect.orElseSucceed(response.text, () => undefined)

/** The reason of a 2xx response that cannot be decoded: some gateways send errors with status 200, or a web page. */
const reasonInBody = (body: string | undefined, error: SendError): GatewayReason => {
  if (body === undefined) return decodeFailure(error)
  if (isWebPage(body)) return new InvalidResponse({ message: wrongBaseUrl(body) })
  return (Schema.isSchemaError(error) ? reasonOfBody(parseJson(body)) : undefined) ?? decodeFailure(error)
}

/** Validates or converts the value of a result, keeping its request id and metadata. */
export const mapResult =
  <A, B>(f: (value: A) => Effect.Effect<B, GatewayReason>) =>
  (self: Effect.Effect<CallResult<A>, AttemptFailure>): Effect.Effect<CallResult<B>, AttemptFailure> =>
    Effect.flatMap(self, ({ body = Effect.undefined, requestId, value, ...rest }) =>
      Effect.matchEffect(f(value), {
        onFailure: (reason) =>
          Effect.flatMap(body, (response) => Effect.fail<AttemptFailure>({ reason, requestId, response })),
        onSuccess: (mapped) => Effect.succeed<CallResult<B>>({ value: mapped, requestId, ...rest })
      })
    )

/** Why a request got no response. */
const sendFailure = (error: SendError, baseUrl?: string): GatewayReason => {
  if (Schema.isSchemaError(error)) {
    return new InvalidRequest({ message: `The request is not valid: ${schemaMessage(error)}` })
  }
  if (error.reason._tag !== "TransportError") return new InvalidRequest({ message: error.message })
  const { code, message } = transportFault(error.reason.cause)
  const url = baseUrl === undefined ? null : URL.parse(error.reason.request.url)
  const otherHost = url !== null && url.origin !== URL.parse(baseUrl ?? "")?.origin ? url.host : undefined
  const address = otherHost === undefined ? "the base URL" : "its address"
  if (isBadResponse(code)) {
    return new InvalidResponse({
      message: `${otherHost ?? "The server"} does not speak HTTP (${message}). Check ${address}.`
    })
  }
  if (isBroken(code)) {
    return new Unreachable({ message: `The connection broke before the response arrived: ${message}.` })
  }
  return new Unreachable({
    message: `${otherHost ?? "The gateway"} cannot be reached: ${message}. Check ${address} and the network.`
  })
}

const isNotConnected = (error: SendError): boolean =>
  !Schema.isSchemaError(error) &&
  error.reason._tag === "TransportError" &&
  isConnectFailure(error.reason.cause)

/** Why the body of a 2xx response cannot be read or decoded. */
export const decodeFailure = (error: SendError): GatewayReason => {
  if (Schema.isSchemaError(error)) {
    return new InvalidResponse({
      message: `The response does not match the contract: ${schemaMessage(error)}`
    })
  }
  const { code, message } = transportFault("cause" in error.reason ? error.reason.cause : undefined)
  if (isBroken(code))
    return new Unreachable({ message: `The connection broke during the response: ${message}` })
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
    return new InvalidResponse({ message: "The response is too large (`maxResponseBytes`)." })
  }
  return new InvalidResponse({ message: `The response cannot be read: ${error.reason.message}` })
}

const schemaMessage = (error: Schema.SchemaError): string => error.message.replace(/\s+/g, " ").slice(0, 300)
