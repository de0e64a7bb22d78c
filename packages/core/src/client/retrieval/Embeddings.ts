/** `gateway.embeddings` over HTTP. */
import { Effect, Result } from "effect"
import type { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { ApiKey } from "../../contract/Credentials.ts"
import { EmbeddingRequest } from "../../contract/Embeddings.ts"
import { extraOf, refusedExtra } from "../../contract/Fields.ts"
import type { Embeddings, Gateway } from "../../gateway/Gateway.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import type { InvalidResponse } from "../../contract/GatewayError.ts"
import type { Answer } from "../transport/Answer.ts"
import type { About, Caller } from "../call/Call.ts"
import { directTo } from "../transport/Direct.ts"
import { vectorsOf } from "./Distrust.ts"
import { type EmbedOptions, makeEmbedAll } from "./Embed.ts"
import { exchange, judge, requestIdOf } from "../transport/Exchange.ts"
import { factsOf, originOf, tokensOf } from "../transport/Facts.ts"
import { type EmbeddingAnswer, isUsualEmbeddingRequest, usualEmbeddings, usually } from "./Usual.ts"
import type { WholeResponse } from "../transport/Whole.ts"

const EMBEDDINGS = { group: "embeddings", endpoint: "create" } as const

const decode = usually(usualEmbeddings, HttpApiClient.decodeResponse(GatewayApi, EMBEDDINGS))

/** A vector for each of `count` texts. */
const judged = (answer: EmbeddingAnswer, count: number): Result.Result<Embeddings, InvalidResponse> =>
  Result.map(vectorsOf(answer.data, count), (vectors) => {
    const extra = extraOf(answer)
    return {
      vectors,
      tokens: tokensOf(answer.usage?.total_tokens),
      ...originOf(answer),
      ...(extra !== undefined && { extra: [extra] })
    }
  })

/** An answer as it usually comes, with nothing wrong in it; anything else is not for this way. */
const usualAnswer =
  (count: number) =>
  ({ received }: WholeResponse, bytes: Buffer): Answer<Embeddings> | undefined => {
    const answer = usualEmbeddings(bytes)
    const value = answer && judged(answer, count)
    return value && Result.isSuccess(value)
      ? { value: value.success, requestId: requestIdOf(received), facts: factsOf(answer) }
      : undefined
  }

export const makeEmbeddings = Effect.fnUntraced(function* (
  options: { readonly apiKey: ApiKey; readonly embeddings?: EmbedOptions },
  { call, fail }: Caller,
  { baseUrl, httpClient }: { readonly baseUrl: string; readonly httpClient: HttpClient.HttpClient }
) {
  const post = yield* HttpApiClient.endpoint(GatewayApi, { ...EMBEDDINGS, httpClient })
  const direct = yield* directTo(baseUrl, "/v1/embeddings", options.apiKey)
  const embedAll = makeEmbedAll(options.embeddings ?? {})

  const embeddings: Gateway["Service"]["embeddings"] = Effect.fn("Gateway.embeddings")((request) => {
    const { extra, model } = request
    const about: About = { operation: "embeddings", model }
    const reason = refusedExtra(extra, EmbeddingRequest)
    if (reason !== undefined) return fail(about, { reason, requestId: undefined, unmade: true })
    return embedAll(request, ({ texts }) => {
      const payload = { model, input: texts, encoding_format: "base64" } as const
      const read = (send: Parameters<typeof exchange>[0]) =>
        judge((answer: EmbeddingAnswer) => Effect.fromResult(judged(answer, texts.length)))(
          exchange(send, decode)
        )
      const byContract = () =>
        read(post({ payload: { ...payload, ...(extra && { extra }) }, responseMode: "response-only" }))
      const attempt =
        extra === undefined && isUsualEmbeddingRequest(payload)
          ? direct(() => JSON.stringify(payload), usualAnswer(texts.length), read, byContract)
          : Effect.suspend(byContract)
      return Effect.map(call(about, attempt), ({ value }) => value)
    })
  })
  return embeddings
})
