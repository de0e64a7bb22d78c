/** The built-in catalogue and the user's own, and what a name stands for in them. */
import { readFile } from "node:fs/promises"
import { GatewayError, InvalidRequest } from "@sluice/core"
import { Config, Effect, Schema } from "effect"
import { builtInModels } from "./BuiltInModels.ts"
import { type CatalogueModel, LocalCatalogue } from "./CatalogueModel.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(LocalCatalogue), {
  onExcessProperty: "error"
})

const invalidRequest = (message: string, model?: string) =>
  new GatewayError({
    operation: "models",
    ...(model !== undefined && { model }),
    reason: new InvalidRequest({ message })
  })

/** The built-in models, and those of the JSON file that `SLUICE_MODEL_CATALOGUE` names. */
export const modelCatalogue = Effect.gen(function* () {
  const path = yield* Effect.orDie(Config.withDefault(Config.String("SLUICE_MODEL_CATALOGUE"), ""))
  if (path === "") return builtInModels
  const own = yield* Effect.tryPromise(() => readFile(path, "utf8")).pipe(
    Effect.flatMap(decode),
    Effect.mapError(({ cause, message }) =>
      invalidRequest(`SLUICE_MODEL_CATALOGUE: ${cause instanceof Error ? cause.message : message}`)
    )
  )
  const ids = new Set(own.models.map(({ id }) => id))
  return {
    models: [...builtInModels.models.filter(({ id }) => !ids.has(id)), ...own.models],
    sets: { ...builtInModels.sets, ...own.sets }
  }
})

/** The models of a set, or the model of that id. Fails with the names that there are. */
export const findModels = Effect.fnUntraced(function* (
  name: string
): Effect.fn.Return<ReadonlyArray<CatalogueModel>, GatewayError> {
  const { models, sets } = yield* modelCatalogue
  const ids = Object.hasOwn(sets, name) ? (sets[name] ?? []) : [name]
  const found = models.filter(({ id }) => ids.includes(id))
  if (found.length === ids.length) return found
  const message = `There is no such model or set. Sets: ${Object.keys(sets).join(", ")}. Models: ${models.map(({ id }) => id).join(", ")}`
  return yield* invalidRequest(message, name)
})
