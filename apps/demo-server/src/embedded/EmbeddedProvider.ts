/** The provider that needs nothing: the narrow services of this process behind the gateway's wire. */
import type { ChatEvent, ChatRequest, ChatResponse } from "@sluice/core/contract"
import { Embedder, Reader, Reranker, Vision } from "@sluice/core"
import { Effect, type Stream } from "effect"
import { FetchImage } from "../media/FetchImage.ts"
import type { Operation, Provider } from "../routing/Provider.ts"
import { painterModel } from "@sluice/embedded/media"
import { chat } from "./Chat.ts"
import { embeddings } from "./Embeddings.ts"
import { imageChat } from "./ImageChat.ts"
import { imageModels } from "./ImageModels.ts"
import { images } from "./Images.ts"
import { rerank } from "./Rerank.ts"
import { makeTaskRunner } from "./TaskRunner.ts"
import { videoModels } from "./VideoModels.ts"
import { videos } from "./Videos.ts"

const ID = "sluice-embedded"

/** What models of a kind are, and are not. */
const NOTES = {
  lexical: "lexical: matches words, not meaning",
  neural: "neural: matches meaning",
  extractive: "extractive: answers with sentences of the messages, and writes none of its own",
  generative: "generative: writes sentences of its own"
} as const

/** Serves whichever Embedder, Reranker, Reader and Vision it is given. */
export const embedded = Effect.gen(function* () {
  const embedder = yield* Embedder
  const reranker = yield* Reranker
  const reader = yield* Reader
  const vision = yield* Vision
  const readsText = chat(reader, vision.model.id)
  const seesImages = imageChat(vision, yield* FetchImage, readsText)
  const converse: Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>> = (call) =>
    call.request.model === vision.model.id ? seesImages(call) : readsText(call)
  const runner = yield* makeTaskRunner(ID)
  const painted = yield* images(ID, runner)
  const animated = yield* videos(ID, runner)
  yield* runner.resume(({ kind }) => (kind === "image" ? painted.work : animated.work))
  return {
    id: ID,
    models: [
      {
        id: embedder.model.id,
        operation: "embeddings",
        group: "embeddings",
        note: NOTES[embedder.model.kind]
      },
      { id: reranker.model.id, operation: "rerank", group: "rerank", note: NOTES[reranker.model.kind] },
      { id: reader.model.id, operation: "chat", group: "chat", note: NOTES[reader.model.kind] },
      {
        id: vision.model.id,
        operation: "chat",
        group: "chat",
        note: "OCR: reads text, size and colours of pictures, knows no things"
      },
      ...imageModels.map(({ id, group }) => ({
        id,
        group,
        operation: "images" as const,
        note: painterModel.note
      })),
      ...videoModels.map((model) => ({ ...model, operation: "videos" as const }))
    ],
    operations: {
      embeddings: embeddings(embedder),
      rerank: rerank(reranker),
      chat: converse,
      images: painted.create,
      videos: animated.create
    },
    tasks: {
      image: painted.image,
      video: animated.video,
      videoContent: animated.videoContent,
      removeVideo: animated.removeVideo
    }
  } satisfies Provider
})
