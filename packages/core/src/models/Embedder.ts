/** The narrow service that turns texts into vectors. */
import { Context, type Effect } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"

/** What a text is embedded for. Models that tell the two apart are given their prefixes by the implementation. */
export type Purpose = "query" | "passage"

/** What a program may want to know of an embedding model before it uses it. */
export interface EmbedderModel {
  /** Identifier, recorded in a collection's manifest: vectors of two models are never mixed. */
  readonly id: string
  /** `lexical` models match words, `neural` ones meaning. */
  readonly kind: "lexical" | "neural"
  /** Whether a text costs nothing to embed again: such vectors are not cached. */
  readonly free: boolean
  /**
   * What the implementation puts before a text by its purpose, such as `query: ` and `passage: `. Recorded with `id` in a
   * collection's manifest, for other prefixes make other vectors.
   */
  readonly prefixes?: Partial<Record<Purpose, string>>
}

/** Vectors in the order of the texts, each of the model's dimension, finite, L2 norm 1 or 0. */
export interface Embedded {
  readonly vectors: ReadonlyArray<Float32Array>
  /** Tokens that the model counted; 0 when free. */
  readonly tokens: number
}

/**
 * Turns texts into vectors.
 *
 * **Details.** `embed` takes any number of texts, none included; the implementation splits them into requests.
 * A text without any word gives the zero vector with lexical models. `dimension` is asked of the model once
 * when it is not known beforehand.
 *
 * **Gotchas.** When a part of the texts fails, the error's reason is `PartialFailure`, which keeps what succeeded.
 */
export class Embedder extends Context.Service<
  Embedder,
  {
    readonly model: EmbedderModel
    readonly dimension: Effect.Effect<number, GatewayError>
    readonly embed: (texts: ReadonlyArray<string>, purpose: Purpose) => Effect.Effect<Embedded, GatewayError>
  }
>()("@sluice/core/models/Embedder") {}
