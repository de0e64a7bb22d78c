/** The service that says whether quotes support a sentence. */
import { Context, type Effect } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"

/** A sentence of an answer with its quotes. */
export interface VerifiedClaim {
  readonly sentence: string
  readonly quotes: ReadonlyArray<string>
  /** Text that explains the quotes: the title and headings of their document, and the question. */
  readonly context: string
}

export interface Verification {
  /** One for each claim, in order: why its quotes do not support it, or `undefined` if they do. */
  readonly doubts: ReadonlyArray<string | undefined>
  /** As the model counted; 0 if it does not cost any. */
  readonly tokens: number
}

/** A verifying model. `lexical` ones compare words, numbers, negations and names. */
export interface VerifierModel {
  readonly id: string
  readonly kind: "lexical" | "neural" | "generative"
}

/** Verifies the sentences of an answer against their quotes, all in one call. A library uses it if the reader writes. */
export class Verifier extends Context.Service<
  Verifier,
  {
    readonly model: VerifierModel
    readonly verify: (claims: ReadonlyArray<VerifiedClaim>) => Effect.Effect<Verification, GatewayError>
  }
>()("@sluice/core/models/Verifier") {}
