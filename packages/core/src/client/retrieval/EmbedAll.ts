/** Embeds any number of texts: splits them into requests, sends these concurrently, and combines the vectors. */
import { Effect, Result } from "effect"
import type { Extra } from "../../contract/Fields.ts"
import { GatewayError, InvalidResponse } from "../../contract/GatewayError.ts"
import type { Embeddings, EmbeddingsCall } from "../../gateway/Gateway.ts"
import { RETRY_REASONS } from "../../gateway/RetryPolicy.ts"
import {
  batches,
  type BatchLimits,
  batchLimits,
  type OptionalLimits,
  partialFailure,
  type TextBatch,
  textsOf
} from "./Batches.ts"

export type EncodingFormat = "base64" | "float"

export interface EmbedOptions extends OptionalLimits {
  /**
   * How vectors are sent. Default: `base64`, which is smaller and faster; for a model that refuses it with 400, `float`
   * from then on.
   */
  readonly encodingFormat?: EncodingFormat | undefined
  /** The most concurrent requests of one call. Default: 4. */
  readonly concurrency?: number | undefined
}

type BatchResults = ReadonlyArray<readonly [TextBatch, Result.Result<Embeddings, GatewayError>]>

/** What earlier requests showed about a model. */
interface ModelState {
  /** The most texts of a request. */
  maxTexts: number
  hasReturnedVectors: boolean
  /** Single texts refused so far. */
  refusedTexts: number
}

/** Refusals that all requests of a call share. */
const FINAL: ReadonlySet<string> = new Set(["Unauthorized", "Forbidden", "InsufficientQuota", "NotFound"])
const OUTAGE: ReadonlySet<string> = new Set(RETRY_REASONS)
/** Consecutive outages after which no further request is sent. */
const MAX_OUTAGES = 3
/** Refused single texts, without a vector so far, after which batches are no longer split. */
const MAX_REFUSED = 16
/** Statuses of a batch that may be too large or contain an invalid text; undefined is 400. */
const SPLIT: ReadonlySet<number | undefined> = new Set([undefined, 413, 422])

const isInvalidInput = ({ attempt, reason }: GatewayError): boolean =>
  attempt !== undefined &&
  reason._tag === "InvalidRequest" &&
  SPLIT.has(reason.status) &&
  (reason.param === undefined || reason.param.startsWith("input"))

/** The largest power of two below `length`: limits of servers are usually powers of two. */
const halfOf = (length: number): number => 2 ** (Math.ceil(Math.log2(length)) - 1)

/** Sends the batches of one call. */
const makeSendBatch = (
  limits: BatchLimits,
  model: ModelState,
  request: (batch: TextBatch) => Effect.Effect<Embeddings, GatewayError>
) => {
  let final: GatewayError | undefined
  let outages = 0

  const send = (batch: TextBatch) =>
    Effect.suspend(() => (final === undefined ? request(batch) : Effect.fail(final))).pipe(
      Effect.result,
      Effect.tap((result) =>
        Effect.sync(() => {
          if (Result.isSuccess(result)) {
            outages = 0
            model.hasReturnedVectors = true
            return
          }
          const error = result.failure
          if (OUTAGE.has(error.reason._tag)) outages++
          if (FINAL.has(error.reason._tag) || outages === MAX_OUTAGES) final ??= error
          if (batch.texts.length === 1 && isInvalidInput(error)) model.refusedTexts++
        })
      )
    )

  const sendParts = ({ start, texts }: TextBatch, size: number): Effect.Effect<BatchResults> =>
    Effect.forEach(batches(texts, { ...limits, texts: size }), (part) =>
      sendBatch({ start: start + part.start, texts: part.texts })
    ).pipe(Effect.map((parts) => parts.flat()))

  const sendBatch = (batch: TextBatch): Effect.Effect<BatchResults> =>
    Effect.gen(function* () {
      const { length } = batch.texts
      // A concurrent batch may have lowered the limit.
      if (length > model.maxTexts) return yield* sendParts(batch, model.maxTexts)
      const result = yield* send(batch)
      const isSplit =
        length > 1 &&
        Result.isFailure(result) &&
        isInvalidInput(result.failure) &&
        (model.hasReturnedVectors || model.refusedTexts < MAX_REFUSED)
      if (!isSplit) return [[batch, result]]
      const half = halfOf(length)
      const parts = yield* sendParts(batch, half)
      if (parts.length === 2 && parts.every(([, part]) => Result.isSuccess(part))) {
        model.maxTexts = Math.min(model.maxTexts, half)
      }
      return parts
    })
  return sendBatch
}

/**
 * Embeds the texts of a call with as few requests as the limits allow.
 *
 * **Details.** A failed request does not end the others, because their vectors are charged. No further request is sent
 * after a refusal that all share (credential, permission, quota, unknown model), or after several consecutive outages.
 *
 * A request refused as invalid may be too large or contain an invalid text: it is halved until the text is alone. If
 * both halves succeed it was too large, and later requests to the model have no more texts than a half. If nothing ever
 * succeeds, splitting stops early.
 */
export const makeEmbedAll = (options: EmbedOptions) => {
  const limits = batchLimits(options)
  const models = new Map<string, ModelState>()

  return Effect.fnUntraced(function* (
    { input: given, model }: EmbeddingsCall,
    request: (batch: TextBatch) => Effect.Effect<Embeddings, GatewayError>
  ): Effect.fn.Return<Embeddings, GatewayError> {
    const input = textsOf(given)
    if (input.length === 0) return { vectors: [], tokens: 0 }
    const state = models.get(model) ?? { maxTexts: limits.texts, hasReturnedVectors: false, refusedTexts: 0 }
    models.set(model, state)
    const parts = batches(input, { ...limits, texts: state.maxTexts })
    const results = (yield* Effect.forEach(parts, makeSendBatch(limits, state, request), {
      concurrency: Math.min(parts.length, options.concurrency ?? 4)
    })).flat()
    const [first, second] = results
    if (first !== undefined && second === undefined) return yield* Effect.fromResult(first[1])
    return yield* combine(model, results)
  })
}

/** The vectors of all batches in the order of the texts, or a `PartialFailure` that keeps those that succeeded. */
const combine = (model: string, results: BatchResults): Effect.Effect<Embeddings, GatewayError> => {
  const kept = new Map<number, Float32Array>()
  const failed: Array<number> = []
  const extra: Array<Extra> = []
  let responseModel: string | undefined
  let first: GatewayError | undefined
  let tokens = 0
  for (const [{ start, texts }, result] of results) {
    if (Result.isSuccess(result)) {
      tokens += result.success.tokens
      responseModel ??= result.success.model
      extra.push(...(result.success.extra ?? []))
      for (const [j, vector] of result.success.vectors.entries()) kept.set(start + j, vector)
    } else {
      first ??= result.failure
      for (const j of texts.keys()) failed.push(start + j)
    }
  }
  const vectors = [...kept.values()]
  const dimensions = new Set(vectors.map(({ length }) => length))
  if (dimensions.size > 1) {
    const message = `The responses have vectors of ${[...dimensions].join(" and of ")} numbers for one model.`
    return new GatewayError({ operation: "embeddings", model, reason: new InvalidResponse({ message }) })
  }
  if (first === undefined) {
    return Effect.succeed({
      vectors,
      tokens,
      ...(responseModel && { model: responseModel }),
      ...(extra.length > 0 && { extra })
    })
  }
  if (kept.size === 0 || first.reason._tag === "PartialFailure") return first
  const { attempt, requestId } = first
  const reason = partialFailure({ failed, kept, first: first.reason })
  return new GatewayError({ operation: "embeddings", model, requestId, attempt, reason })
}
