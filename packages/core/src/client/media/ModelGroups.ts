/** Which group a model is of, as far as the program has said. */
import { Effect, Option } from "effect"
import type { ModelGroup } from "../../contract/Models.ts"
import { ModelCatalogue } from "../../gateway/ModelCatalogue.ts"

/** The catalogue of a call's own context, else the one that the client was built with. */
export const makeModelGroupOf = Effect.map(
  Effect.serviceOption(ModelCatalogue),
  (built) =>
    (model: string): Effect.Effect<ModelGroup | undefined> =>
      Effect.map(Effect.serviceOption(ModelCatalogue), (given) =>
        Option.orElse(given, () => built).pipe(
          Option.flatMap(({ groupOf }) => groupOf(model)),
          Option.getOrUndefined
        )
      )
)
