/** The provider of this process: the embedded models behind the gateway's operations. */
import type { ChatEvent, ChatRequest, ChatResponse } from "@sluice/core/contract"
import { Embedder, Reader, Reranker, Vision } from "@sluice/core"
import { WorkerUser } from "@sluice/core/workers"
import { Effect, type Stream } from "effect"
import { FetchImage } from "../media/FetchImage.ts"
import type { Operation, Provider } from "../routing/Provider.ts"
import { painterModel } from "@sluice/embedded/media"
import { textChat } from "./Chat.ts"
import { embeddingsOperation } from "./Embeddings.ts"
import { imageChat } from "./ImageChat.ts"
import { imageModels } from "./ImageModels.ts"
import { makeImageOperations } from "./Images.ts"
import { rerankOperation } from "./Rerank.ts"
import { makeTaskRunner } from "./TaskRunner.ts"
import { videoModels } from "./VideoModels.ts"
import { makeVideoOperations } from "./Videos.ts"

const ID = "sluice-embedded"

/** Descriptions of the kinds of models. */
const NOTES = {
  lexical: "lexical: matches words, not meaning",
  neural: "neural: matches meaning",
  extractive: "extractive: answers with sentences from the messages",
  generative: "generative: writes its own sentences"
} as const

/** The models are shared fairly between the callers. */
const inTurn =
  <Request, Response>(operation: Operation<Request, Response>): Operation<Request, Response> =>
  (call) =>
    Effect.provideService(operation(call), WorkerUser, call.user)

/** Serves the Embedder, Reranker, Reader and Vision of the context. */
export const makeEmbeddedProvider = Effect.gen(function* () {
  const embedder = yield* Embedder
  const reranker = yield* Reranker
  const reader = yield* Reader
  const vision = yield* Vision
  const readsText = textChat(reader, vision.model.id)
  const seesImages = imageChat(vision, yield* FetchImage, readsText)
  const chat: Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>> = (call) =>
    call.request.model === vision.model.id ? seesImages(call) : readsText(call)
  const runner = yield* makeTaskRunner(ID)
  const painted = yield* makeImageOperations(ID, runner)
  const animated = yield* makeVideoOperations(ID, runner)
  const { note } = painterModel
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
        note: "OCR: reads text, size and colours of pictures; doesn't recognise objects"
      },
      ...imageModels.map(({ id, group }) => ({ id, group, operation: "images" as const, note })),
      ...videoModels.map((model) => ({ ...model, operation: "videos" as const }))
    ],
    operations: {
      embeddings: inTurn(embeddingsOperation(embedder)),
      rerank: inTurn(rerankOperation(reranker)),
      chat: inTurn(chat),
      images: inTurn(painted.create),
      videos: animated.create
    },
    tasks: { ...animated.tasks, image: painted.image }
  } satisfies Provider
})
