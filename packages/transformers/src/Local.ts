/** The models that `sluice models pull` has fetched, as services. */
import { type Embedder, GatewayError, InvalidRequest, type Reranker } from "@sluice/core"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { type CatalogueModel, storedPath } from "./catalogue/CatalogueModel.ts"
import { findModels } from "./catalogue/FindModels.ts"
import { LLAMA } from "./ChatModel.ts"
import * as LlamaReader from "./LlamaReader.ts"
import { INSTALL, LIBRARY, type TransformersModelOptions } from "./ModelJobs.ts"
import { folderOf, missingFiles, modelFailure, modelsFolder } from "./store/ModelFolder.ts"
import * as TransformersEmbedder from "./TransformersEmbedder.ts"
import * as TransformersReader from "./TransformersReader.ts"
import * as TransformersReranker from "./TransformersReranker.ts"

export interface LocalOptions extends Pick<TransformersModelOptions, "library"> {
  /** A set of the catalogue. Default `small`. */
  readonly set?: string
  /** The library of chat models, as their process imports it. Default `node-llama-cpp`. */
  readonly llamaLibrary?: string
}

const failure = (set: string, message: string) =>
  new GatewayError({ operation: "models", model: set, reason: new InvalidRequest({ message }) })

const isInstalled = (library: string): boolean => {
  try {
    import.meta.resolve(library)
    return true
  } catch {
    return false
  }
}

/**
 * The command that installs the packages that run models of these kinds: 474 MB, or 85 to 725 MB for `chat`. Undefined if they
 * are installed. Default: those for all kinds but `chat`.
 */
export const missingRuntime = (
  kinds: ReadonlyArray<CatalogueModel["kind"]> = ["embedder"]
): string | undefined => {
  const libraries = new Set(kinds.map((kind) => (kind === "chat" ? LLAMA : LIBRARY)))
  const missing = [...libraries].filter((library) => !isInstalled(library))
  return missing.length === 0 ? undefined : `npm install ${missing.join(" ")}`
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
    ...(model.dtype !== undefined && { dtype: model.dtype }),
    maxTokens: model.maxTokens
  }
})

/** The reader of a pulled chat model, whose folder has one file. */
const llamaReader = (
  { files, maxTokens }: CatalogueModel,
  { model, name }: { readonly model: string; readonly name: string },
  library: string | undefined
) =>
  LlamaReader.layer({
    model: join(model, storedPath(files[0]!)),
    name,
    window: maxTokens,
    ...(library !== undefined && { library })
  })

/**
 * The embedder and the reranker of a pulled set. Its reader or chat model too, if it has one, as the reader: that replaces a reader
 * merged before it.
 *
 * **Details.** Each model is loaded on first use, in a thread or process of its own. Building the layer fails with
 * `InvalidRequest` if the set is unknown or not pulled, or if `@huggingface/transformers`, or `node-llama-cpp` for a chat model,
 * is not installed. Nothing is downloaded.
 *
 * ```ts
 * const models = Layer.merge(Embedded.layerReader, Local.layer())
 * ```
 */
export const layer = ({ library, llamaLibrary, set = "small" }: LocalOptions = {}): Layer.Layer<
  Embedder | Reranker,
  GatewayError
> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const models = yield* findModels(set)
      const [embedder, reranker, reader, chat] = (["embedder", "reranker", "reader", "chat"] as const).map(
        (wanted) => models.find(({ kind }) => kind === wanted)
      )
      if (embedder === undefined || reranker === undefined) {
        const message =
          "It is not a set of an embedder and a reranker. See: npx @sluice/demo-server models list"
        return yield* failure(set, message)
      }
      if (library === undefined && missingRuntime() !== undefined) return yield* failure(set, INSTALL)
      const install = chat && llamaLibrary === undefined ? missingRuntime(["chat"]) : undefined
      if (install !== undefined)
        return yield* failure(set, `Its chat model needs the package ${LLAMA}: ${install}.`)
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
          : TransformersReader.layer({ ...from, ...(yield* pulled(reader, set)) }),
        chat === undefined ? Layer.empty : llamaReader(chat, yield* pulled(chat, set), llamaLibrary)
      )
    })
  )
