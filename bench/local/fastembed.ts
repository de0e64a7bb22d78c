/** `fastembed` of bench/peers with its default options. It wants the files of a model in one folder, under its names. */
import { existsSync } from "node:fs"
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { answerCalls, lowerPriority } from "./Contender.ts"

interface Fastembed {
  readonly EmbeddingModel: { readonly CUSTOM: string }
  readonly FlagEmbedding: {
    readonly init: (options: object) => Promise<{
      readonly embed: (texts: ReadonlyArray<string>) => AsyncIterable<ReadonlyArray<Float32Array>>
    }>
  }
}

const { EmbeddingModel, FlagEmbedding }: Fastembed = createRequire(
  new URL("../peers/package.json", import.meta.url)
)("fastembed")

lowerPriority()
answerCalls(async ({ dtype, maxTokens, model }) => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-fastembed-"))
  const weights = dtype === "q8" ? "model_quantized.onnx" : "model.onnx"
  for (const name of ["config.json", "tokenizer.json", "tokenizer_config.json"])
    await symlink(join(model, name), join(folder, name))
  await symlink(join(model, "onnx", weights), join(folder, weights))
  const special = join(model, "special_tokens_map.json")
  if (existsSync(special)) await symlink(special, join(folder, "special_tokens_map.json"))
  else await writeFile(join(folder, "special_tokens_map.json"), "{}")
  const embedder = await FlagEmbedding.init({
    model: EmbeddingModel.CUSTOM,
    modelAbsoluteDirPath: folder,
    modelName: weights,
    maxLength: maxTokens
  })
  await rm(folder, { recursive: true })
  return async ({ texts }) => {
    const vectors: Array<Float32Array> = []
    for await (const batch of embedder.embed(texts)) vectors.push(...batch)
    return vectors
  }
})
