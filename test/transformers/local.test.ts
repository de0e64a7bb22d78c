/** Pulled models as services: of a library, and of the command line and the server. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Embedder, Reader, Reranker } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { Local, pullModel, TransformersEmbedder } from "@sluice/transformers"
import { ConfigProvider, Effect, Layer } from "effect"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { sluiceIn } from "../cli/Launcher.ts"
import { handbook } from "../rag/TestFolder.ts"
import { environmentWithPeer, llamaLibrary, peerLibrary } from "./PeerLibrary.ts"
import { WIDTH } from "./TinyModel.ts"
import { toyModels, WRITTEN } from "./ToyModels.ts"

/** It is imported by the first call only. */
const NO_LIBRARY = "data:text/javascript,export{}"

/** The toy models, and how to pull and load them. */
const setup = Effect.gen(function* () {
  const toy = yield* toyModels
  const { environment, models } = toy
  const config = ConfigProvider.layer(ConfigProvider.fromUnknown(environment))
  const pull = Effect.forEach(models, (model) => pullModel(model)).pipe(
    Effect.provide([config, NodeHttpClient.layerUndici])
  )
  const build = (set: string, library = NO_LIBRARY) =>
    Layer.build(Local.layer({ set, library })).pipe(Effect.provide(config))
  return { ...toy, config, pull, build }
})

describe("Local.layer", () => {
  it.live("fails with the command that pulls a set, and fetches nothing", () =>
    Effect.gen(function* () {
      const { build, hub, pull, environment } = yield* setup
      const absent = yield* Effect.flip(build("toy"))
      assert.include(absent.message, "npx @sluice/demo-server models pull toy")
      assert.lengthOf(hub.requests, 0)
      yield* pull
      yield* build("toy")
      yield* Effect.promise(() =>
        rm(join(environment.XDG_CACHE_HOME, "sluice/models/tiny-crossencoder-01234567/tokenizer.json"))
      )
      const partial = yield* Effect.flip(build("toy"))
      assert.include(partial.message, "tokenizer.json is not in")
      assert.strictEqual(partial.model, "tiny-crossencoder")
    }).pipe(Effect.scoped)
  )

  it.live("fails for an unknown set and for one that lacks a reranker", () =>
    Effect.gen(function* () {
      const { build, pull } = yield* setup
      yield* pull
      assert.include(
        (yield* Effect.flip(build("nothing"))).message,
        "Sets: small, better, answers, toy, half, pair, writer"
      )
      assert.include((yield* Effect.flip(build("half"))).message, "not a set of an embedder and a reranker")
    }).pipe(Effect.scoped)
  )

  it.live("has the reader of a set in place of one that is merged before, and leaves that one without", () =>
    Effect.gen(function* () {
      const { config, pull } = yield* setup
      yield* pull
      const readerOf = (set: string) =>
        Effect.map(Reader, ({ model }) => model).pipe(
          Effect.provide(
            Layer.provide(
              Layer.merge(
                Embedded.layerReader,
                Local.layer({ set, library: NO_LIBRARY, llamaLibrary: NO_LIBRARY })
              ),
              config
            )
          )
        )
      assert.deepStrictEqual(yield* readerOf("toy"), {
        id: "tiny-answerer@01234567 64 tokens",
        kind: "extractive"
      })
      assert.deepStrictEqual(yield* readerOf("writer"), {
        id: "tiny-chat@01234567",
        kind: "generative",
        window: 4096
      })
      assert.deepStrictEqual(yield* readerOf("pair"), Embedded.readerModel)
    }).pipe(Effect.scoped)
  )

  // Skipped: where the optional package is installed for the project, nothing is missing.
  it.live.skipIf(URL.canParse(resolved()))("says what to install, before the first call", () =>
    Effect.gen(function* () {
      const { config, pull } = yield* setup
      yield* pull
      const error = yield* Effect.flip(Layer.build(Local.layer({ set: "toy" })).pipe(Effect.provide(config)))
      assert.include(error.message, "npm install @huggingface/transformers")
    }).pipe(Effect.scoped)
  )

  it.live("computes in a thread, so that the event loop goes on", () =>
    Effect.gen(function* () {
      const tells = `import { isMainThread } from "node:worker_threads"
        throw new Error("main thread: " + isMainThread)`
      const library = `data:text/javascript,${encodeURIComponent(tells)}`
      const error = yield* Effect.flip(Embedder.use(({ embed }) => embed(["a"], "query"))).pipe(
        Effect.provide(TransformersEmbedder.layer({ model: "x", library }))
      )
      assert.include(error.message, "main thread: false")
    })
  )
})

// Skipped: the library of chat models is installed only when asked for; llama-peer/README.md says how.
describe.skipIf(llamaLibrary === undefined)("a pulled chat model", () => {
  it.live("answers a library's question with a citation", () =>
    Effect.gen(function* () {
      const { config, pull } = yield* setup
      yield* pull
      const { docs, library: at } = yield* handbook
      const local = Local.layer({ set: "writer", library: NO_LIBRARY, llamaLibrary: llamaLibrary! })
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        yield* library.ingest(docs)
        const { citations, outcome, sentences, trace } = yield* library.ask("When are refunds paid?")
        assert.strictEqual(outcome, "answer")
        assert.deepStrictEqual(
          sentences.map(({ text }) => text),
          [WRITTEN.text]
        )
        assert.deepInclude(citations[0], { document: "refunds.md", quote: WRITTEN.quote })
        const read = trace.stages.find(({ stage }) => stage === "read")
        assert.isAbove(read?.tokens ?? 0, 0)
      }).pipe(
        // The set's reader, and models that embed and rerank without the other library.
        Effect.provide(
          Layer.mergeAll(Layer.provide(local, config), Embedded.layerEmbedder, Embedded.layerReranker)
        )
      )
    }).pipe(Effect.scoped)
  )
})

function resolved(): string {
  try {
    return import.meta.resolve("@huggingface/transformers")
  } catch {
    return ""
  }
}

// Skipped: the library weighs 474 MB and is installed only when asked for; peer/README.md says how.
describe.skipIf(peerLibrary === undefined)("pulled models", () => {
  it.live("embed with their prefixes, and rerank", () =>
    Effect.gen(function* () {
      const { config, pull } = yield* setup
      yield* pull
      yield* Effect.gen(function* () {
        const { embed, model } = yield* Embedder
        assert.deepStrictEqual(model, {
          id: "tiny-encoder@01234567 64 tokens",
          kind: "neural",
          free: false,
          prefixes: { query: "query: ", passage: "passage: " }
        })
        const [query] = (yield* embed(["boiler"], "query")).vectors
        const [passage] = (yield* embed(["boiler"], "passage")).vectors
        assert.strictEqual(query?.length, WIDTH)
        assert.notDeepEqual(query, passage)
        const { rerank } = yield* Reranker
        const documents = [{ text: "post office closed" }, { text: "the boiler must be inspected" }]
        assert.strictEqual((yield* rerank("boiler inspected", documents)).results[0]?.index, 1)
      }).pipe(Effect.provide(Layer.provide(Local.layer({ set: "toy", library: peerLibrary! }), config)))
    }).pipe(Effect.scoped)
  )

  it.live("are looked for again after a call that found them removed", () =>
    Effect.gen(function* () {
      const { config, environment, pull } = yield* setup
      yield* pull
      yield* Effect.gen(function* () {
        const { embed } = yield* Embedder
        yield* Effect.promise(() => rm(environment.XDG_CACHE_HOME, { recursive: true }))
        const { message } = yield* Effect.flip(embed(["boiler"], "query"))
        assert.include(message, "has no config.json and no tokenizer.json. Pull the model again")
        yield* pull
        assert.lengthOf((yield* embed(["boiler"], "query")).vectors, 1)
      }).pipe(Effect.provide(Layer.provide(Local.layer({ set: "toy", library: peerLibrary! }), config)))
    }).pipe(Effect.scoped)
  )

  it.live("answer a library's question by the set's reader, and not what it refuses", () =>
    Effect.gen(function* () {
      const { config, pull } = yield* setup
      yield* pull
      const { docs, library: at } = yield* handbook
      const local = Layer.provide(Local.layer({ set: "toy", library: peerLibrary! }), config)
      yield* Effect.gen(function* () {
        const library = yield* Library.open(at)
        yield* library.ingest(docs)
        const { citations, outcome, sentences, trace } = yield* library.ask("When are refunds paid?")
        assert.strictEqual(outcome, "answer")
        assert.include(sentences[0]?.text, "fourteen days")
        assert.strictEqual(citations[0]?.document, "refunds.md")
        assert.include(sentences[0]?.text, citations[0]?.quote ?? "-")
        // The embedded reader counts none.
        assert.isAbove(trace.stages.find(({ stage }) => stage === "read")?.tokens ?? 0, 0)
        const refused = yield* library.ask("Who wrote the lease?")
        assert.notStrictEqual(refused.outcome, "answer")
        assert.lengthOf(refused.sentences, 0)
      }).pipe(Effect.provide(Layer.merge(Embedded.layerReader, local)))
    }).pipe(Effect.scoped)
  )

  it.live("answer with a citation, from `models pull` to `ask`", () =>
    Effect.gen(function* () {
      const { environment, folder } = yield* setup
      const { docs } = yield* handbook
      const sluice = (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
        Effect.promise(() =>
          sluiceIn(folder, args, { ...environment, ...environmentWithPeer(folder), ...more })
        )
      const ask = ["ask", "When are refunds paid after a return?", "--docs", docs, "--data", "data", "--json"]
      const local = { SLUICE_LOCAL_MODELS: "toy" }
      const early = yield* sluice(ask, local)
      assert.strictEqual(early.code, 1)
      assert.include(
        JSON.parse(early.stdout).error.message,
        "SLUICE_LOCAL_MODELS: models (model tiny-encoder)"
      )
      assert.strictEqual((yield* sluice(["models", "pull", "toy"])).code, 0)
      const answered = yield* sluice(ask, local)
      assert.strictEqual(answered.code, 0, answered.stderr)
      const { answer, citations, trace } = JSON.parse(answered.stdout)
      assert.include(answer, "fourteen days")
      assert.strictEqual(citations[0].document, "refunds.md")
      assert.include(JSON.stringify(trace), "tiny-crossencoder@01234567")
      const read = trace.stages.find(({ stage }: { readonly stage: string }) => stage === "read")
      assert.isAbove(read.tokens, 0)
      // The vectors of the embedded model are other ones.
      assert.include((yield* sluice(ask)).stdout, "tiny-encoder@01234567 64 tokens")
      const both = yield* sluice(ask, { ...local, SLUICE_GATEWAY_URL: "http://127.0.0.1:9" })
      assert.include(both.stdout, "Unset one of them")
    }).pipe(Effect.scoped)
  )
})
