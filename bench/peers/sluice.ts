/** Sluice with default options. */
import { apiKey, GatewayEmbedder, GatewayReader, GatewayReranker } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Library } from "@sluice/rag"
import { Layer, ManagedRuntime } from "effect"
import { join } from "node:path"
import { contest } from "./Contender.ts"

await contest(async ({ data, docs, gateway }) => {
  const models = Layer.mergeAll(
    GatewayEmbedder.layer({ model: "peers" }),
    GatewayReranker.layer({ model: "peers" }),
    GatewayReader.layer({ model: "peers" })
  ).pipe(Layer.provide(GatewayClient.layer({ baseUrl: gateway, apiKey: apiKey("sk-peers") })))
  const runtime = ManagedRuntime.make(Library.layer(join(data, "library")).pipe(Layer.provide(models)))
  const library = await runtime.runPromise(Library)
  return {
    ingest: async () => {
      await runtime.runPromise(library.ingest(docs))
      return (await runtime.runPromise(library.stats)).passages
    },
    query: async (question) => {
      const { kept } = await runtime.runPromise(library.retrieve(question))
      return kept.map(({ document }) => document.path)
    },
    close: () => runtime.dispose()
  }
})
