/** An `Embedder` that uses an embedding model of the gateway. */
import { Effect, Layer, Semaphore } from "effect"
import { Gateway } from "../gateway/Gateway.ts"
import { GatewayError, InvalidResponse, PartialFailure } from "../contract/GatewayError.ts"
import { Embedder, type Purpose } from "./Embedder.ts"

/** The embedding model, and what is known of it. */
export interface GatewayEmbedderOptions {
  readonly model: string
  /** Requested once from the model if absent. */
  readonly dimension?: number | undefined
  /** The model's prefixes for queries and passages, such as `query: ` and `passage: `. */
  readonly prefixes?: Partial<Record<Purpose, string>> | undefined
  /** Says in each request what its texts are: `input_type`, `query` or `document`. Dialects map it to the vendor's field. */
  readonly hasInputType?: boolean | undefined
}

const INPUT_TYPES: Readonly<Record<Purpose, string>> = { query: "query", passage: "document" }

/**
 * Derives an `Embedder` from `Gateway`.
 *
 * **Details.** Vectors are scaled to L2 norm 1. Blank texts get the zero vector and are not sent, because many gateways
 * refuse the whole request. A vector of another dimension fails with `InvalidResponse`.
 */
export const layer = (options: GatewayEmbedderOptions): Layer.Layer<Embedder, never, Gateway> =>
  Layer.effect(
    Embedder,
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { model } = options
      let known = options.dimension
      const once = yield* Semaphore.make(1)

      const checkAndNormalise = (vectors: Iterable<Float32Array>) => {
        for (const vector of vectors) {
          known ??= vector.length
          if (vector.length !== known) {
            const message = `A vector has dimension ${vector.length}, not ${known}.`
            const reason = new InvalidResponse({ message })
            return new GatewayError({ operation: "embeddings", model, reason })
          }
          normalise(vector)
        }
        return Effect.void
      }

      const dimension = Effect.suspend(() =>
        known === undefined
          ? gateway.embeddings({ model, input: ["dimension"] }).pipe(
              Effect.flatMap(({ vectors }) => checkAndNormalise(vectors)),
              Effect.map(() => known ?? 0)
            )
          : Effect.succeed(known)
      ).pipe(Semaphore.withPermit(once))

      const embed = Effect.fn("GatewayEmbedder.embed")(function* (
        texts: ReadonlyArray<string>,
        purpose: Purpose
      ) {
        const prefix = options.prefixes?.[purpose] ?? ""
        const sent = [...texts.keys()].filter((i) => texts[i]?.trim() !== "")
        const input = sent.map((i) => prefix + texts[i])
        const { tokens, vectors } = yield* Effect.catchReason(
          gateway.embeddings({
            model,
            input,
            ...(options.hasInputType === true && { extra: { input_type: INPUT_TYPES[purpose] } })
          }),
          "GatewayError",
          "PartialFailure",
          (reason, error) => {
            const kept = new Map([...reason.kept].map(([i, vector]) => [sent[i] ?? i, vector]))
            const failed = reason.failed.map((i) => sent[i] ?? i)
            const partial = new PartialFailure({ ...reason, message: reason.message, kept, failed })
            return Effect.andThen(
              checkAndNormalise(kept.values()),
              new GatewayError({ ...error, reason: partial })
            )
          }
        )
        yield* checkAndNormalise(vectors)
        if (sent.length === texts.length) return { vectors, tokens }
        const length = yield* dimension
        const all = texts.map((): Float32Array => new Float32Array(length))
        for (const [j, i] of sent.entries()) all[i] = vectors[j] ?? new Float32Array(length)
        return { vectors: all, tokens }
      })

      const { hasInputType, prefixes } = options
      return Embedder.of({
        model: {
          id: model,
          kind: "neural",
          free: false,
          ...(prefixes !== undefined && { prefixes }),
          ...(hasInputType === true && { hasInputType })
        },
        dimension,
        embed
      })
    })
  )

const normalise = (vector: Float32Array): void => {
  let squares = 0
  for (let i = 0; i < vector.length; i++) squares += (vector[i] ?? 0) ** 2
  if (squares === 0) return
  const factor = 1 / Math.sqrt(squares)
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * factor
}
