/**
 * `ingestOnce.ts FOLDER LIBRARY [paid | apply]`: one writer in its own process, to be killed or to compete. `paid`
 * caches vectors as for a paid model; `apply` does so too, and plans first.
 */
import { Embedder } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { Effect, Layer, Stream } from "effect"

const [folder = "", path = "", mode = "plain"] = process.argv.slice(2)

const embedder = Layer.effect(
  Embedder,
  Effect.map(Embedder, (lexical) =>
    Embedder.of({ ...lexical, model: { ...lexical.model, free: mode === "plain" } })
  )
).pipe(Layer.provide(Embedded.layerEmbedder))

const models = Layer.mergeAll(embedder, Embedded.layerReranker, Embedded.layerReader)

await Effect.gen(function* () {
  const library = yield* Library.open(path)
  const events =
    mode === "apply" ? library.applyEvents(yield* library.plan(folder)) : library.ingestEvents(folder)
  yield* Stream.runForEach(events, ({ type }) =>
    Effect.sync(() => {
      if (type === "committed") process.stdout.write("committed\n")
    })
  )
}).pipe(Effect.scoped, Effect.provide(models), Effect.runPromise)
