/** `POST /v1/embeddings` for any number of texts: split, sent side by side, put together again. */
import { Effect, Result } from "effect"
import type { Extra } from "../../contract/Fields.ts"
import type { Embeddings, EmbeddingsCall } from "../../gateway/Gateway.ts"
import { GatewayError, InvalidResponse } from "../../contract/GatewayError.ts"
import { RETRY_REASONS } from "../../gateway/RetryPolicy.ts"
import { BATCH, type TextBatch, type BatchLimits, batches } from "./Batches.ts"
import { partialFailure } from "./PartialFailures.ts"

export interface EmbedOptions extends Partial<BatchLimits> {
  /** Requests under way at once. */
  readonly concurrency?: number
}

const CONCURRENCY = 4

/** What became of each request. */
type Answered = ReadonlyArray<readonly [TextBatch, Result.Result<Embeddings, GatewayError>]>

/** What was found out of a model. */
interface Known {
  /** Texts that a request has at most. */
  texts: number
  /** Whether a vector ever came. */
  answers: boolean
  /** Texts that were refused by themselves before. */
  refused: number
}

/**
 * Calls of many requests each.
 *
 * **Details.** A failed request does not end the others, for what they bring is paid for; but no further one is begun
 * after a refusal that all will share (credential, permission, quota, no such model), or when several in a row found
 * no gateway that works, retries and all.
 *
 * A request that is refused as invalid may be too large, or have a text that the model does not take: it is sent in two
 * parts, and each that is refused again likewise, until the text is alone. Where both parts are taken it was too large,
 * and no later request to the model has more texts. Where nothing is ever taken, that ends soon.
 */
export const makeEmbedAll = (options: EmbedOptions) => {
  const limits = { ...BATCH, ...options }
  const models = new Map<string, Known>()

  return Effect.fnUntraced(function* (
    { input, model }: EmbeddingsCall,
    request: (batch: TextBatch) => Effect.Effect<Embeddings, GatewayError>
  ): Effect.fn.Return<Embeddings, GatewayError> {
    if (input.length === 0) return { vectors: [], tokens: 0 }
    const known = models.get(model) ?? { texts: limits.texts, answers: false, refused: 0 }
    models.set(model, known)
    let hopeless: GatewayError | undefined
    let outages = 0

    const send = (batch: TextBatch) =>
      Effect.suspend(() => (hopeless === undefined ? request(batch) : Effect.fail(hopeless))).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            outages = 0
            known.answers = true
          })
        ),
        Effect.tapError((error) =>
          Effect.sync(() => {
            if (OUTAGE.has(error.reason._tag)) outages++
            if (HOPELESS.has(error.reason._tag) || outages === OUTAGES) hopeless ??= error
            if (batch.texts.length === 1 && isInvalid(error)) known.refused++
          })
        ),
        Effect.result
      )

    const inParts = ({ start, texts }: TextBatch, size: number): Effect.Effect<Answered> =>
      Effect.forEach(batches(texts, { ...limits, texts: size }), (part) =>
        answered({ start: start + part.start, texts: part.texts })
      ).pipe(Effect.map((parts) => parts.flat()))

    const answered = (batch: TextBatch): Effect.Effect<Answered> =>
      Effect.suspend(() => {
        const { length } = batch.texts
        // Found out meanwhile.
        if (length > known.texts) return inParts(batch, known.texts)
        return Effect.flatMap(send(batch), (answer) => {
          const isDivided =
            length > 1 &&
            Result.isFailure(answer) &&
            isInvalid(answer.failure) &&
            (known.answers || known.refused < REFUSED)
          if (!isDivided) return Effect.succeed<Answered>([[batch, answer]])
          const half = halfOf(length)
          return Effect.tap(inParts(batch, half), (parts) =>
            Effect.sync(() => {
              if (parts.length === 2 && parts.every(([, part]) => Result.isSuccess(part)))
                known.texts = Math.min(known.texts, half)
            })
          )
        })
      })

    const parts = batches(input, { ...limits, texts: known.texts })
    const { concurrency = CONCURRENCY } = options
    const answers = (yield* Effect.forEach(parts, answered, { concurrency })).flat()
    const [first, second] = answers
    // The usual case, and nothing to put together.
    if (first !== undefined && second === undefined) return yield* Effect.fromResult(first[1])
    return yield* together(model, answers)
  })
}

/** Refused for what is in it, and for no other field than its texts. */
const isInvalid = ({ attempt, reason }: GatewayError): boolean =>
  attempt !== undefined &&
  reason._tag === "InvalidRequest" &&
  DIVIDED.has(reason.status) &&
  (reason.param === undefined || reason.param.startsWith("input"))

/** No status is 400. */
const DIVIDED: ReadonlySet<number | undefined> = new Set([undefined, 413, 422])

/** So many texts in a row, and never a vector: it is not the texts. */
const REFUSED = 16

/** The power of two that leaves the rest no larger: what servers take is one more often than not. */
const halfOf = (length: number): number => 2 ** (Math.ceil(Math.log2(length)) - 1)

const HOPELESS: ReadonlySet<string> = new Set(["Unauthorized", "Forbidden", "InsufficientQuota", "NotFound"])
const OUTAGE: ReadonlySet<string> = new Set(RETRY_REASONS)
const OUTAGES = 3

const together = (model: string, answers: Answered): Effect.Effect<Embeddings, GatewayError> => {
  const kept = new Map<number, Float32Array>()
  const failed: Array<number> = []
  const extra: Array<Extra> = []
  let named: string | undefined
  let first: GatewayError | undefined
  let tokens = 0
  for (const [{ start, texts }, answer] of answers) {
    if (Result.isSuccess(answer)) {
      tokens += answer.success.tokens
      named ??= answer.success.model
      extra.push(...(answer.success.extra ?? []))
      for (const [j, vector] of answer.success.vectors.entries()) kept.set(start + j, vector)
    } else {
      first ??= answer.failure
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
    attempt: first.attempt,
    reason: partialFailure({ failed, kept, first: first.reason })
  })
}
