/** What a library makes of the program's embedding model: a manifest, and vectors that are paid for once. */
import { Embedder } from "@sluice/core"
import { Effect } from "effect"
import { CHUNKER } from "../chunking/Chunker.ts"
import { embeddingModelName } from "./embeddingModelName.ts"
import { FORMAT, type Manifest } from "../store/Manifest.ts"
import { makePassageEmbedder, modelError } from "./PassageEmbedder.ts"
import { PassageIndex } from "../store/PassageIndex.ts"

/** What is used now. Asks the model for its dimension. */
export const presentManifest = Effect.gen(function* () {
  const { dimension, model } = yield* Embedder
  const manifest: Manifest = {
    format: FORMAT,
    embeddingModel: embeddingModelName(model),
    dimension: yield* dimension.pipe(Effect.mapError((error) => modelError("open", error))),
    chunker: CHUNKER
  }
  return manifest
})

/** With the cache of vectors for models that cost something. */
export const passageEmbedder = Effect.fn("Library.embedder")(function* ({ dimension }: Manifest) {
  const { model } = yield* Embedder
  const index = yield* PassageIndex
  return yield* makePassageEmbedder(
    dimension,
    model.free ? undefined : yield* index.vectors(embeddingModelName(model), dimension)
  )
})
