/** The models that `sluice models pull` has fetched, as services. */
import { type Embedder, GatewayError, InvalidRequest, type Reranker } from "@sluice/core"
import { Effect, Layer } from "effect"
import type { CatalogueModel } from "./catalogue/CatalogueModel.ts"
import { findModels } from "./catalogue/FindModels.ts"
import { INSTALL, INSTALL_COMMAND, LIBRARY, type TransformersModelOptions } from "./ModelJobs.ts"
import { folderOf, missingFiles, modelFailure, modelsFolder } from "./store/ModelFolder.ts"
import * as TransformersEmbedder from "./TransformersEmbedder.ts"
import * as TransformersReader from "./TransformersReader.ts"
import * as TransformersReranker from "./TransformersReranker.ts"

export interface LocalOptions extends Pick<TransformersModelOptions, "library"> {
  /** A set of the catalogue. Default `small`. */
  readonly set?: string
}

const failure = (set: string, message: string) =>
  new GatewayError({ operation: "models", model: set, reason: new InvalidRequest({ message }) })

/** The command that installs the package that runs the models, 474 MB; undefined if it is installed. */
export const missingRuntime = (): string | undefined => {
  try {
    import.meta.resolve(LIBRARY)
    return undefined
  } catch {
    return INSTALL_COMMAND
  }
}

/** The folder and settings of a pulled model. Fails with the command that pulls it. */
const pulled = Effect.fnUntraced(function* (model: CatalogueModel, name: string) {
  const root = yield* modelsFolder
  const missing = yield* missingFiles(root, model)
  if (missing.length > 0) {
    const message = `${missing.map(({ path }) => path).join(", ")} is not in ${folderOf(root, model)}. Run: npx @sluice/demo-server models pull ${name}`
    return yield* modelFailure(model, new InvalidRequest({ message }))
  }
  return {
    model: folderOf(root, model),
    name: `${model.id}@${model.revision.slice(0, 8)}`,
    dtype: model.dtype,
    maxTokens: model.maxTokens
  }
})

/**
 * The embedder and the reranker of a pulled set. Its reader too, if it has one: that replaces a reader merged before it.
 *
 * **Details.** Each model is loaded on first use, in a thread of its own. Building the layer fails with `InvalidRequest` if
 * the set is unknown or not pulled, or if `@huggingface/transformers` is not installed. Nothing is downloaded.
 *
 * ```ts
 * const models = Layer.merge(Embedded.layerReader, Local.layer())
 * ```
 */
export const layer = ({ library, set = "small" }: LocalOptions = {}): Layer.Layer<
  Embedder | Reranker,
  GatewayError
> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const models = yield* findModels(set)
      const [embedder, reranker, reader] = (["embedder", "reranker", "reader"] as const).map((wanted) =>
        models.find(({ kind }) => kind === wanted)
      )
      if (embedder === undefined || reranker === undefined) {
        const message =
          "It is not a set of an embedder and a reranker. See: npx @sluice/demo-server models list"
        return yield* failure(set, message)
      }
      if (library === undefined && missingRuntime() !== undefined) return yield* failure(set, INSTALL)
      const from = library === undefined ? {} : { library }
      const { dimension, pooling, prefixes } = embedder
      return Layer.mergeAll(
        TransformersEmbedder.layer({
          ...from,
          ...(yield* pulled(embedder, set)),
          ...(dimension !== undefined && { dimension }),
          ...(pooling !== undefined && { pooling }),
          ...(prefixes !== undefined && { prefixes })
        }),
        TransformersReranker.layer({ ...from, ...(yield* pulled(reranker, set)) }),
        reader === undefined
          ? Layer.empty
          : TransformersReader.layer({ ...from, ...(yield* pulled(reader, set)) })
      )
    })
  )
