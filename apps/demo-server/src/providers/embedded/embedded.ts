/** The provider that needs nothing: the narrow services of this process behind the gateway's wire. */
import {
  type ChatEvent,
  type ChatRequest,
  type ChatResponse,
  Embedder,
  Reader,
  Reranker,
  Vision
} from "@sluice/core"
import { Effect, type Stream } from "effect"
import { FetchImage } from "../../media/FetchImage.ts"
import type { Operation, Provider } from "../Provider.ts"
import { chat } from "./Chat.ts"
import { embeddings } from "./Embeddings.ts"
import { imageChat } from "./ImageChat.ts"
import { rerank } from "./Rerank.ts"

/** Serves whichever Embedder, Reranker, Reader and Vision the program provides. */
export const embedded = Effect.gen(function* () {
  const embedder = yield* Embedder
  const reranker = yield* Reranker
  const reader = yield* Reader
  const vision = yield* Vision
  const readsText = chat(reader, vision.model.id)
  const seesImages = imageChat(vision, yield* FetchImage, readsText)
  const converse: Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>> = (call) =>
    call.request.model === vision.model.id ? seesImages(call) : readsText(call)
  return {
    id: "sluice-embedded",
    models: [
      { id: embedder.model.id, operation: "embeddings" },
      { id: reranker.model.id, operation: "rerank" },
      { id: reader.model.id, operation: "chat" },
      { id: vision.model.id, operation: "chat" }
    ],
    operations: { embeddings: embeddings(embedder), rerank: rerank(reranker), chat: converse }
  } satisfies Provider
})
