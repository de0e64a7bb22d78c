/** `Verifier` by a model of natural language inference in this process. */
import { Verifier } from "@sluice/core"
import type { VerifiedClaim } from "@sluice/core/models"
import { Effect, Layer } from "effect"
import type { Scored, TransformersModelOptions } from "./ModelJobs.ts"
import { batchesByLength, makeModelThread, modelName } from "./ModelThread.ts"

export interface TransformersVerifierOptions extends TransformersModelOptions {
  /** The least probability of an entailment, 0 to 1. Higher ones doubt more sentences. Default 0.5. */
  readonly threshold?: number
}

const THRESHOLD = 0.5

/**
 * Loads the model on first use, in a thread, and releases it with the layer.
 *
 * **Details.** The premise is the context and the quotes of a sentence, the hypothesis the sentence. The model must have a label
 * "entailment", as those trained on SNLI, MultiNLI or XNLI have.
 *
 * ```ts
 * TransformersVerifier.layer({ model: "./models/nli-deberta-v3-small" })
 * ```
 */
export const layer = (options: TransformersVerifierOptions): Layer.Layer<Verifier> =>
  Layer.effect(
    Verifier,
    Effect.gen(function* () {
      const { threshold = THRESHOLD, ...source } = options
      const run = yield* makeModelThread(source, "chat")
      const verify = Effect.fn("TransformersVerifier.verify")(function* (
        claims: ReadonlyArray<VerifiedClaim>
      ) {
        const premises = claims.map(({ context, quotes }) => [context, ...quotes].join("\n"))
        const doubts: Array<string | undefined> = claims.map(() => "The sentence is empty.")
        let tokens = 0
        for (const batch of batchesByLength(premises)) {
          const scored = yield* run<Scored>("entailmentJob", {
            premises: batch.map((i) => premises[i]!),
            hypotheses: batch.map((i) => claims[i]!.sentence)
          })
          tokens += scored.tokens
          for (const [j, i] of batch.entries())
            doubts[i] =
              scored.scores[j]! >= threshold
                ? undefined
                : `Its quotes entail it with a probability of ${scored.scores[j]!.toFixed(2)}.`
        }
        return { doubts, tokens }
      })
      return Verifier.of({ model: { id: modelName(options), kind: "neural" }, verify })
    })
  )
