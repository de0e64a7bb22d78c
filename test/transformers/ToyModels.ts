/** A loopback hub with a set `toy` of three tiny models, `pair` of two, `half` of one, and what makes a program find it. */
import type { CatalogueModel } from "@sluice/transformers"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Hub, loopbackHub, publish } from "./LoopbackHub.ts"
import { WIDTH, writeModel } from "./TinyModel.ts"

const NAMES = ["config.json", "tokenizer.json", "tokenizer_config.json", "onnx/model.onnx"]

const KINDS = ["encoder", "crossEncoder", "answerer"] as const

const publishTiny = async (hub: Hub, folder: string, kind: (typeof KINDS)[number]) => {
  const at = await writeModel(folder, kind)
  const files = await Promise.all(NAMES.map(async (name) => [name, await readFile(join(at, name))] as const))
  const prefixes = { query: "query: ", passage: "passage: " }
  const of: Partial<CatalogueModel> =
    kind === "encoder"
      ? { kind: "embedder", dimension: WIDTH, pooling: "mean", prefixes }
      : { kind: kind === "answerer" ? "reader" : "reranker" }
  return publish(hub, Object.fromEntries(files), {
    id: `tiny-${kind.toLowerCase()}`,
    repository: `tests/${kind}`,
    ...of
  })
}

/** The hub, an empty cache, and a catalogue that names all models. */
export const toyModels = Effect.gen(function* () {
  const hub = yield* loopbackHub
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-local-"))),
    (at) => Effect.sync(() => rmSync(at, { recursive: true, force: true }))
  )
  const models = yield* Effect.promise(() => Promise.all(KINDS.map((kind) => publishTiny(hub, folder, kind))))
  const catalogue = join(folder, "catalogue.json")
  const [encoder, crossEncoder, answerer] = ["tiny-encoder", "tiny-crossencoder", "tiny-answerer"]
  const sets = { toy: [encoder, crossEncoder, answerer], half: [encoder], pair: [encoder, crossEncoder] }
  yield* Effect.promise(() => writeFile(catalogue, JSON.stringify({ models, sets })))
  const environment = {
    XDG_CACHE_HOME: join(folder, "cache"),
    SLUICE_MODEL_HUB: hub.url,
    SLUICE_MODEL_CATALOGUE: catalogue
  }
  return { hub, folder, models, environment }
})
