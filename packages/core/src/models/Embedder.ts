/** The service that turns texts into vectors. */
import { Context, type Effect } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"

/** The purpose of an embedding. Implementations add the model's prefix for it. */
export type Purpose = "query" | "passage"

/** An embedding model. */
export interface EmbedderModel {
  /** Identifier, recorded in a collection's manifest: vectors of two models are never mixed. */
  readonly id: string
  /** `lexical` models match words, `neural` ones meaning. */
  readonly kind: "lexical" | "neural"
  /** True if embedding is free. Such vectors are not cached. */
  readonly free: boolean
  /**
   * The prefix of each purpose, such as `query: ` and `passage: `. Recorded with `id` in a collection's manifest, because
   * prefixes change the vectors.
   */
  readonly prefixes?: Partial<Record<Purpose, string>>
  /** True if each request says which purpose its texts have. Recorded like `prefixes`, and for the same reason. */
  readonly hasInputType?: boolean
}

/** Vectors in the order of the texts, each of the model's dimension, finite, L2 norm 1 or 0. */
export interface EmbeddingResult {
  readonly vectors: ReadonlyArray<Float32Array>
  /** As counted by the model; 0 if free. */
  readonly tokens: number
}

/**
 * Turns texts into vectors.
 *
 * **Details.** `embed` takes any number of texts, also none; the implementation splits them into requests. Lexical
 * models return the zero vector for a text without words. An unknown `dimension` is requested once.
 *
 * **Gotchas.** If some texts fail, the reason is `PartialFailure`, which has the vectors of the others.
 */
export class Embedder extends Context.Service<
  Embedder,
  {
    readonly model: EmbedderModel
    readonly dimension: Effect.Effect<number, GatewayError>
    readonly embed: (
      texts: ReadonlyArray<string>,
      purpose: Purpose
    ) => Effect.Effect<EmbeddingResult, GatewayError>
  }
>()("@sluice/core/models/Embedder") {}
