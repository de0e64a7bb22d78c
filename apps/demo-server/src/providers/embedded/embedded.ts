/** The provider that needs nothing: the narrow services of this process behind the gateway's wire. */
import { Embedder, Reader, Reranker } from "@sluice/core"
import { Effect } from "effect"
import type { Provider } from "../Provider.ts"
import { chat } from "./Chat.ts"
import { embeddings } from "./Embeddings.ts"
import { rerank } from "./Rerank.ts"

/** Serves whichever Embedder, Reranker and Reader the program provides. */
export const embedded = Effect.gen(function* () {
  const embedder = yield* Embedder
  const reranker = yield* Reranker
  const reader = yield* Reader
  return {
    id: "sluice-embedded",
    models: [
      { id: embedder.model.id, operation: "embeddings" },
      { id: reranker.model.id, operation: "rerank" },
      { id: reader.model.id, operation: "chat" }
    ],
    operations: { embeddings: embeddings(embedder), rerank: rerank(reranker), chat: chat(reader) }
  } satisfies Provider
})
