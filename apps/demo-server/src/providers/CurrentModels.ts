/** The library's models now. A change of the providers file replaces them. */
import { Embedder, type Reader, type Reranker, Vision } from "@sluice/core"
import { Context, Effect, Layer, type Option, Ref } from "effect"
import { modelsFrom } from "./LibraryModels.ts"

type Models = Embedder | Reader | Reranker

export interface LibraryModels {
  readonly context: Context.Context<Models>
  /** The address or the file that names them; undefined if all are of this machine. */
  readonly from: string | undefined
}

export const visionOf = ({ context }: LibraryModels): Option.Option<Vision["Service"]> =>
  Context.getOption(context as Context.Context<Models | Vision>, Vision)

/** How long replaced models can still be used: by running calls; with another embedder, by what waits for a rebuild. */
export const replacedLife = (before: LibraryModels, now: LibraryModels): "10 minutes" | "1 day" => {
  const [old, next] = [before, now].map(({ context }) => Context.get(context, Embedder).model.id)
  return old === next ? "10 minutes" : "1 day"
}

export class CurrentModels extends Context.Service<CurrentModels, Ref.Ref<LibraryModels>>()(
  "@sluice/demo-server/CurrentModels"
) {
  /** Starts with the models of the surrounding context. */
  static readonly layer = Layer.effect(
    CurrentModels,
    Effect.gen(function* () {
      const context = yield* Effect.context<Models>()
      return yield* Ref.make<LibraryModels>({ context, from: yield* modelsFrom })
    })
  )
}
