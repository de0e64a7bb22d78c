/** An `Embedder` of any embedding model of the gateway. */
import { Effect, Layer, Semaphore } from "effect"
import { Gateway } from "../gateway/Gateway.ts"
import { GatewayError, InvalidResponse, PartialFailure } from "../contract/GatewayError.ts"
import { Embedder, type Purpose } from "./Embedder.ts"

/** Which embedding model, and what is known of it. */
export interface GatewayEmbedderOptions {
  readonly model: string
  /** When it is known beforehand. Otherwise the model is asked once, when it is first wanted. */
  readonly dimension?: number
  /** What the model wants before a question or a passage, such as `query: ` and `passage: `. */
  readonly prefixes?: Partial<Record<Purpose, string>>
}

/** Embedded to learn the dimension. */
const PROBE = "dimension"

/**
 * Derives an `Embedder` from `Gateway`.
 *
 * **Details.** The gateway's vectors are scaled to L2 norm 1 here. A blank text gets the zero vector without being sent:
 * many gateways refuse the whole request for one. A vector of another dimension than the first is `InvalidResponse`.
 */
export const layer = (options: GatewayEmbedderOptions): Layer.Layer<Embedder, never, Gateway> =>
  Layer.effect(
    Embedder,
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { model } = options
      let known = options.dimension
      const once = yield* Semaphore.make(1)

      const checked = (vectors: Iterable<Float32Array>) => {
        for (const vector of vectors) {
          known ??= vector.length
          if (vector.length !== known) {
            const message = `A vector of ${vector.length} numbers came from a model of ${known}.`
            return new GatewayError({
              operation: "embeddings",
              model,
              reason: new InvalidResponse({ message })
            })
          }
          normalise(vector)
        }
        return Effect.void
      }

      const dimension = Effect.suspend(() =>
        known === undefined
          ? gateway.embeddings({ model, input: [PROBE] }).pipe(
              Effect.flatMap(({ vectors }) => checked(vectors)),
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
          gateway.embeddings({ model, input }),
          "GatewayError",
          "PartialFailure",
          (reason, error) => {
            const kept = new Map([...reason.kept].map(([i, vector]) => [sent[i] ?? i, vector]))
            const failed = reason.failed.map((i) => sent[i] ?? i)
            const partial = new PartialFailure({ ...reason, message: reason.message, kept, failed })
            return Effect.andThen(checked(kept.values()), new GatewayError({ ...error, reason: partial }))
          }
        )
        yield* checked(vectors)
        if (sent.length === texts.length) return { vectors, tokens }
        const length = yield* dimension
        const all = texts.map((): Float32Array => new Float32Array(length))
        for (const [j, i] of sent.entries()) all[i] = vectors[j] ?? new Float32Array(length)
        return { vectors: all, tokens }
      })

      const { prefixes } = options
      return Embedder.of({
        model: { id: model, kind: "neural", free: false, ...(prefixes === undefined ? {} : { prefixes }) },
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
