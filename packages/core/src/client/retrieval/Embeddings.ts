/** `gateway.embeddings` over HTTP. */
import { Effect } from "effect"
import { decodeVector, isFiniteVector } from "../../contract/Base64.ts"
import { EmbeddingRequest, EmbeddingResponse } from "../../contract/Embeddings.ts"
import { extraOf, validateExtra } from "../../contract/Fields.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { type GatewayError, InvalidResponse } from "../../contract/GatewayError.ts"
import type { Embeddings, Gateway } from "../../gateway/Gateway.ts"
import { tolerateEmbeddings } from "../../tolerance/Retrieval.ts"
import type { Caller } from "../call/Caller.ts"
import type { CallInfo } from "../call/CallInfo.ts"
import { originOf, tokensOf } from "../transport/CallResult.ts"
import { decodeJson, parsedBody } from "../transport/DecodeJson.ts"
import type { Send } from "../transport/Send.ts"
import { mapResult, sendAndDecode } from "../transport/SendAndDecode.ts"
import { parseEmbeddings } from "./EmbeddingsText.ts"
import { type EmbedOptions, type EncodingFormat, makeEmbedAll } from "./EmbedAll.ts"

const readBody = parsedBody(({ arrayBuffer }) => arrayBuffer, parseEmbeddings)
const decode = decodeJson(EmbeddingResponse, tolerateEmbeddings, readBody)

const invalid = (message: string) => Effect.fail(new InvalidResponse({ message }))

/** One finite vector for each of `count` texts, in their order, all of one dimension. */
const validateEmbeddings =
  (count: number) =>
  (response: EmbeddingResponse): Effect.Effect<Embeddings, InvalidResponse> => {
    const { data, usage } = response
    if (data.length !== count) return invalid(`The response has ${data.length} vectors for ${count} texts.`)
    const vectors = Array.from<Float32Array | undefined>({ length: count })
    let dimension: number | undefined
    for (const { embedding, index } of data) {
      if (index < 0 || index >= count) {
        return invalid(`The response has a vector for text ${index} of ${count}.`)
      }
      if (vectors[index] !== undefined) return invalid(`The response has two vectors for text ${index}.`)
      const vector = typeof embedding === "string" ? decodeVector(embedding) : Float32Array.from(embedding)
      if (vector === undefined || vector.length === 0) {
        return invalid(`The vector of text ${index} is not Base64 of float32 numbers.`)
      }
      dimension ??= vector.length
      if (vector.length !== dimension) {
        return invalid(`The response has vectors of ${dimension} and of ${vector.length} numbers.`)
      }
      if (!isFiniteVector(vector))
        return invalid(`The vector of text ${index} has a number that is not finite.`)
      vectors[index] = vector
    }
    const extra = extraOf(response)
    return Effect.succeed({
      vectors: vectors.filter((vector) => vector !== undefined),
      tokens: tokensOf(usage?.total_tokens),
      ...originOf(response),
      ...(extra !== undefined && { extra: [extra] })
    })
  }

/** Base URLs and models that refuse `base64`, for all clients of this process. */
const FLOAT_ONLY = new Set<string>()

const ENCODING = /base64|encoding.?format/i

/**
 * Whether a refusal may be due to the encoding: not if it names another field. For a model that has accepted `base64`, it
 * must name the encoding: a gateway may have several servers of one model.
 */
export const mayRefuseBase64 = ({ attempt, reason }: GatewayError, isKnown = false): boolean =>
  attempt !== undefined &&
  reason._tag === "InvalidRequest" &&
  (reason.status === undefined || reason.status === 422) &&
  (ENCODING.test(reason.param ?? reason.message) || (reason.param === undefined && !isKnown))

export const makeEmbeddings = (
  options: EmbedOptions & { readonly baseUrl: string },
  { call, fail }: Caller,
  sendCall: Send
): Gateway["Service"]["embeddings"] => {
  const post = sendCall(GatewayApi.groups.embeddings.endpoints.create)
  const embedAll = makeEmbedAll(options)
  const { baseUrl, encodingFormat } = options
  /** Models whose answer to `base64` is known. */
  const known = new Set<string>()

  return (request) => {
    const { extra, model } = request
    const info: CallInfo = { operation: "embeddings", model, repeat: "paid" }
    const reason = validateExtra(extra, EmbeddingRequest)
    if (reason !== undefined) return fail(info, { reason, notExecuted: true })
    const url = `${baseUrl} ${model}`
    return embedAll(request, ({ texts }) => {
      const send = (encoding_format: EncodingFormat) => {
        const payload = { model, input: texts, encoding_format, ...(extra && { extra }) }
        const attempt = sendAndDecode(post({ payload }), decode)
        return call(info, mapResult(validateEmbeddings(texts.length))(attempt))
      }
      const format = encodingFormat ?? (FLOAT_ONLY.has(url) ? "float" : undefined)
      if (format !== undefined) return send(format)
      return send("base64").pipe(
        Effect.tap(() => Effect.sync(() => known.add(model))),
        Effect.catchIf(
          (error) => mayRefuseBase64(error, known.has(model)),
          () => {
            known.add(model)
            return Effect.tap(send("float"), () => Effect.sync(() => FLOAT_ONLY.add(url)))
          }
        )
      )
    })
  }
}
