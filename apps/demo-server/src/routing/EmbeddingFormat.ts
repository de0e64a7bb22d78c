/** `encoding_format: "base64"` for upstreams that send numbers only. */
import type { GatewayError } from "@sluice/core"
import { mayRefuseBase64, parseJson } from "@sluice/core/client"
import { encodeVector } from "@sluice/core/contract"
import { Effect, Predicate } from "effect"
import { HttpServerResponse } from "effect/http"
import { responseBody } from "./ResponseBody.ts"

type Response = HttpServerResponse.HttpServerResponse
type Fields = Readonly<Record<string, unknown>>

const encoded = (entry: unknown): unknown => {
  if (!Predicate.isObject(entry) || !Array.isArray(entry["embedding"])) return entry
  return { ...entry, embedding: encodeVector(Float32Array.from(entry["embedding"])) }
}

/** A response with its vectors in Base64, as the caller requested them. */
const withBase64 = (response: Response): Response => {
  const body = responseBody(response, "all")
  if (!Predicate.isObject(body) || !Array.isArray(body["data"])) return response
  return HttpServerResponse.jsonUnsafe({ ...body, data: body["data"].map(encoded) })
}

/**
 * Sends embeddings. A model that refuses `base64` is asked for `float` once, and from then on. Callers such as OpenAI's
 * client request `base64` by default and read nothing else.
 */
export const makeSendEmbeddings = <
  Call extends { readonly body: string; readonly request: { readonly model: string } }
>(
  send: (call: Call) => Effect.Effect<Response, GatewayError>
) => {
  const floatOnly = new Set<string>()
  return (call: Call): Effect.Effect<Response, GatewayError> => {
    const { model } = call.request
    const fields = call.body.includes('"base64"') ? parseJson(call.body) : undefined
    if (!Predicate.isObject(fields) || fields["encoding_format"] !== "base64") return send(call)
    const body = JSON.stringify({ ...(fields as Fields), encoding_format: "float" })
    const asFloat = Effect.map(
      Effect.suspend(() => send({ ...call, body })),
      withBase64
    )
    if (floatOnly.has(model)) return asFloat
    return Effect.catchIf(
      send(call),
      (error) => mayRefuseBase64(error),
      () => Effect.tap(asFloat, () => Effect.sync(() => floatOnly.add(model)))
    )
  }
}
