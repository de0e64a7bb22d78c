/** A collection for one evaluation, in a store of its own that goes with it. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Embedder } from "@sluice/core"
import { Effect, Layer } from "effect"
import { CHUNKER } from "../chunking/Chunker.ts"
import { LanceIndex } from "../store/lance/LanceIndex.ts"
import { FORMAT } from "../store/Manifest.ts"
import { makePassageEmbedder, modelError } from "../embedding/PassageEmbedder.ts"
import { PassageIndex } from "../store/PassageIndex.ts"

/** A folder for as long as the scope is open. */
export const scratchFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-evaluation-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Opens an empty one in a folder, with what embeds for it: the program's own model. */
export const scratchCollection = Effect.fn("ScratchCollection.open")(function* (folder: string) {
  const store = yield* Layer.build(LanceIndex.layer(folder))
  const { dimension: asked, model } = yield* Embedder
  const dimension = yield* asked.pipe(Effect.mapError((error) => modelError("evaluate", error)))
  const collection = yield* Effect.flatMap(PassageIndex, (index) =>
    index.open("evaluation", { format: FORMAT, embeddingModel: model.id, dimension, chunker: CHUNKER })
  ).pipe(Effect.provideContext(store))
  return { collection, dimension, embedder: yield* makePassageEmbedder(dimension, undefined) }
})
