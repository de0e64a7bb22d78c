/** `POST /v1/embeddings` for any number of texts: split, sent side by side, put together again. */
import { Effect, Result } from "effect"
import type { Extra } from "../endpoints/Open.ts"
import type { Embeddings, EmbeddingsCall } from "../Gateway.ts"
import { GatewayError, InvalidResponse, PartialFailure } from "../GatewayError.ts"
import { sentence } from "../Sentence.ts"
import { BATCH, type Batch, type BatchLimits, batches } from "./Batches.ts"

export interface EmbedOptions extends Partial<BatchLimits> {
  /** Requests under way at once. */
  readonly concurrency?: number
}

const CONCURRENCY = 4

/**
 * One call of many requests.
 *
 * **Details.** A failed request does not end the others, for what they bring is paid for; but no further one is begun
 * after a refusal that all will share (credential, permission, quota, no such model), or when several in a row found
 * no gateway that works, retries and all.
 */
export const embedAll = Effect.fnUntraced(function* (
  { input, model }: EmbeddingsCall,
  options: EmbedOptions,
  send: (batch: Batch) => Effect.Effect<Embeddings, GatewayError>
): Effect.fn.Return<Embeddings, GatewayError> {
  if (input.length === 0) return { vectors: [], tokens: 0 }
  const parts = batches(input, { ...BATCH, ...options })
  const [first, second] = parts
  // The usual case, and nothing to put together.
  if (first !== undefined && second === undefined) return yield* send(first)
  let hopeless: GatewayError | undefined
  let outages = 0
  const answers = yield* Effect.forEach(
    parts,
    (batch) =>
      Effect.suspend(() => (hopeless === undefined ? send(batch) : Effect.fail(hopeless))).pipe(
        Effect.tap(() => Effect.sync(() => (outages = 0))),
        Effect.tapError((error) =>
          Effect.sync(() => {
            if (OUTAGE.has(error.reason._tag)) outages++
            if (HOPELESS.has(error.reason._tag) || outages === OUTAGES) hopeless ??= error
          })
        ),
        Effect.result
      ),
    { concurrency: options.concurrency ?? CONCURRENCY }
  )
  return yield* together(model, parts, answers)
})

const HOPELESS: ReadonlySet<string> = new Set(["Unauthorized", "Forbidden", "InsufficientQuota", "NotFound"])
const OUTAGE: ReadonlySet<string> = new Set(["Unreachable", "TimedOut", "ServerFailure", "RateLimited"])
const OUTAGES = 3

const together = (
  model: string,
  parts: ReadonlyArray<Batch>,
  answers: ReadonlyArray<Result.Result<Embeddings, GatewayError>>
): Effect.Effect<Embeddings, GatewayError> => {
  const kept = new Map<number, Float32Array>()
  const failed: Array<number> = []
  const extra: Array<Extra> = []
  let named: string | undefined
  let first: GatewayError | undefined
  let tokens = 0
  for (const [i, { start, texts }] of parts.entries()) {
    const answer = answers[i]
    if (answer !== undefined && Result.isSuccess(answer)) {
      tokens += answer.success.tokens
      named ??= answer.success.model
      extra.push(...(answer.success.extra ?? []))
      for (const [j, vector] of answer.success.vectors.entries()) kept.set(start + j, vector)
    } else {
      first ??= answer?.failure
      for (const j of texts.keys()) failed.push(start + j)
    }
  }
  const vectors = [...kept.values()]
  const dimensions = new Set(vectors.map(({ length }) => length))
  if (dimensions.size > 1) {
    const message = `Vectors of ${[...dimensions].join(" and of ")} numbers came for one model.`
    return new GatewayError({ operation: "embeddings", model, reason: new InvalidResponse({ message }) })
  }
  if (first === undefined)
    return Effect.succeed({
      vectors,
      tokens,
      ...(named && { model: named }),
      ...(extra.length > 0 && { extra })
    })
  if (kept.size === 0 || first.reason._tag === "PartialFailure") return first
  return new GatewayError({
    operation: "embeddings",
    model,
    requestId: first.requestId,
    reason: new PartialFailure({
      message: `${failed.length} of ${failed.length + kept.size} texts have no vector: ${sentence(first.reason.message)} Call again with those alone; the others are in \`kept\`.`,
      failed,
      kept,
      first: first.reason
    })
  })
}
