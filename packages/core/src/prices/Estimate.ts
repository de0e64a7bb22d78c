/** The cost of a call before it is made. */
import { batches, batchLimits, textsOf } from "../client/retrieval/Batches.ts"
import type { ImageCall } from "../contract/ImageModels.ts"
import { Quota } from "../contract/Quota.ts"
import type { VideoCall } from "../contract/VideoModels.ts"
import type { ChatCall, EmbeddingsCall, RerankCall } from "../gateway/Gateway.ts"
import { costOf, NO_USAGE, priceOf, type PriceTable, type Usage } from "./Price.ts"
import {
  imageUsage,
  mostChatUsage,
  mostRerankUsage,
  mostTextUsage,
  nonTextCharacters,
  videoUsage
} from "./UsageLimit.ts"

/** A call of `Gateway`, with the kind that says its price. */
export type EstimatedCall =
  | ({ readonly operation: "rerank" } & RerankCall)
  | ({ readonly operation: "embeddings" } & EmbeddingsCall)
  | ({ readonly operation: "chat" } & ChatCall)
  | ({ readonly operation: "images" } & ImageCall)
  | ({ readonly operation: "videos" } & VideoCall)

/** What a call costs at most. */
export interface Estimate {
  /** Rounded up to one unit for each request. */
  readonly units: Quota
  readonly usage: Usage
}

/** The usage at most of each request that the client makes of a call. */
const requestUsages = (call: EstimatedCall): ReadonlyArray<Usage> => {
  switch (call.operation) {
    case "embeddings":
      return batches(textsOf(call.input), batchLimits({})).map(({ texts }) => mostTextUsage(texts))
    case "rerank":
      return call.documents.length === 0 || call.topN === 0 ? [] : [mostRerankUsage(call)]
    case "chat": {
      const { extra, maxTokens: max_tokens, messages, model, temperature } = call
      const request = { model, messages, max_tokens, temperature }
      return [mostChatUsage(request, nonTextCharacters(request, JSON.stringify({ ...request, ...extra })))]
    }
    case "images":
      return [imageUsage(call)]
    case "videos":
      return [videoUsage(call)]
  }
}

const add = (a: Usage, b: Usage): Usage => ({
  ...b,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens
})

/**
 * What a call costs at most, without making it.
 *
 * **Details.** What Sluice's server reserves for the call with the same prices: a token for each character of input, `maxTokens`
 * (4,096 if not set) of output, 15 seconds for a video without `seconds`. Texts to embed are split as the client splits them
 * by default. A call usually costs a quarter; what it did cost is known from its response.
 *
 * **Gotchas.** A longer answer than `maxTokens`, of a model that ignores it, costs more.
 *
 * ```ts
 * const { units } = estimate({ operation: "chat", model: "big", messages, maxTokens: 300 }, prices)
 * if (units > budget) return "Too expensive"
 * ```
 */
export const estimate = (call: EstimatedCall, prices: PriceTable): Estimate => {
  const price = priceOf(prices, call.operation, call.model)
  const usages = requestUsages(call)
  const units = usages.reduce((sum, usage) => sum + costOf(price, usage), 0)
  return { units: Quota.make(units), usage: usages.reduce(add, NO_USAGE) }
}
