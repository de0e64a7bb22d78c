/** The catalogue of local models, what of it is here, and downloads: for the command line and the page. */
import {
  bytesOf,
  type CatalogueModel,
  findModels,
  missingFiles,
  modelCatalogue,
  modelsFolder,
  pullModel,
  type PullOptions
} from "@sluice/transformers"
import { Effect } from "effect"
import { layerProxiedHttpClient } from "../network/ProxiedHttpClient.ts"

export const isPulled = (root: string, model: CatalogueModel) =>
  Effect.map(missingFiles(root, model), ({ length }) => length === 0)

/** Every model of the catalogue, with the sets that have it. */
export const listLocalModels = Effect.gen(function* () {
  const folder = yield* modelsFolder
  const { models: known, sets } = yield* modelCatalogue
  const models = yield* Effect.forEach(known, (model) =>
    Effect.map(isPulled(folder, model), (pulled) => ({
      ...model,
      sets: Object.keys(sets).filter((name) => sets[name]?.includes(model.id)),
      bytes: bytesOf([model]),
      pulled
    }))
  )
  return { folder, models, sets }
})

interface PullNamedOptions extends Pick<PullOptions, "from"> {
  /** Bytes of all the models that are here, all their bytes, and the model that is being fetched. */
  readonly onProgress: (done: number, total: number, model: string) => Effect.Effect<void>
}

/** Fetches what is missing of a set, or of one model. */
export const pullNamed = Effect.fnUntraced(function* (
  name: string,
  { onProgress, ...options }: PullNamedOptions
) {
  const models = yield* findModels(name)
  const total = bytesOf(models)
  let before = 0
  return yield* Effect.forEach(
    models,
    Effect.fnUntraced(function* (model) {
      const folder = yield* pullModel(model, {
        ...options,
        onProgress: (done) => onProgress(before + done, total, model.id)
      })
      const bytes = bytesOf([model])
      before += bytes
      return { id: model.id, folder, bytes }
    })
  )
}, Effect.provide(layerProxiedHttpClient))
