/** A loopback hub with sets of tiny models, and what makes a program find it. */
import type { CatalogueModel } from "@sluice/transformers"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Hub, loopbackHub, publish } from "./LoopbackHub.ts"
import { tinyChatModel } from "./TinyChatModel.ts"
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

/** What the chat model of the set `writer` says of every question. */
export const WRITTEN = {
  text: "Refunds take fourteen days.",
  quote: "Refunds are paid within fourteen days of the return."
}

const publishChat = (hub: Hub) => {
  const sentences = [{ text: WRITTEN.text, citations: [{ passage: 1, quote: WRITTEN.quote }] }]
  const file = tinyChatModel(JSON.stringify({ answered: true, sentences }))
  const of = { id: "tiny-chat", kind: "chat", repository: "tests/chat", maxTokens: 4096 } as const
  return publish(hub, { "tiny.gguf": file }, of)
}

/** The hub, an empty cache, and a catalogue that names all models. */
export const toyModels = Effect.gen(function* () {
  const hub = yield* loopbackHub
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-local-"))),
    (at) => Effect.sync(() => rmSync(at, { recursive: true, force: true }))
  )
  const models = [
    ...(yield* Effect.promise(() => Promise.all(KINDS.map((kind) => publishTiny(hub, folder, kind))))),
    publishChat(hub)
  ]
  const catalogue = join(folder, "catalogue.json")
  const [encoder, crossEncoder, answerer] = ["tiny-encoder", "tiny-crossencoder", "tiny-answerer"]
  const sets = {
    toy: [encoder, crossEncoder, answerer],
    half: [encoder],
    pair: [encoder, crossEncoder],
    writer: [encoder, crossEncoder, "tiny-chat"]
  }
  yield* Effect.promise(() => writeFile(catalogue, JSON.stringify({ models, sets })))
  const environment = {
    XDG_CACHE_HOME: join(folder, "cache"),
    SLUICE_MODEL_HUB: hub.url,
    SLUICE_MODEL_CATALOGUE: catalogue
  }
  return { hub, folder, models, environment }
})
