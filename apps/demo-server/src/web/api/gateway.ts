/** Calls of the gateway under `/v1`, authorized by the page's session. Types are those of the contract. */
import type * as Core from "@sluice/core/contract"
import { brokenStream, errorOf, request, streamEvents } from "./request.ts"

/** A model of the lists. The last three fields are this server's own; other gateways omit them. */
export type ListedModel = Core.Model & {
  readonly operation?: string
  readonly group?: string
  readonly note?: string
}

const post =
  <Body, A>(path: string) =>
  (body: Body, signal: AbortSignal): Promise<A> =>
    request("POST", path, { body, signal })

const poll =
  <A>(path: string) =>
  (id: string, signal: AbortSignal): Promise<A> =>
    request("GET", `${path}/${encodeURIComponent(id)}`, { signal })

export const createEmbeddings = post<Core.EmbeddingRequest, Core.EmbeddingResponse>("/v1/embeddings")
export const createRerank = post<Core.RerankRequest, Core.RerankResponse>("/v1/rerank")

const IMAGES = "/v1/images/generations"
export const createImages = post<Core.ImageRequest, Core.ImageResponse>(IMAGES)
export const getImages = poll<Core.ImageResponse>(IMAGES)

/** A video task. Gateways report `progress` as a number or as text such as `40%`. */
export type VideoTask = Core.Video & { readonly progress?: number | string }

export const VIDEOS = "/v1/videos"
export const createVideo = post<Core.VideoRequest, VideoTask>(VIDEOS)
export const getVideo = poll<VideoTask>(VIDEOS)

/** The part of a chat answer that has arrived. */
export interface PartialAnswer {
  readonly text: string
  readonly finishReason?: string | undefined
  readonly usage?: Core.ChatChunk["usage"]
}

/** Streams a chat answer. `onText` is called with all text so far. */
export const streamChat = async (
  model: string,
  messages: ReadonlyArray<Core.ChatMessage>,
  signal: AbortSignal,
  onText: (answer: PartialAnswer) => void
): Promise<PartialAnswer> => {
  let answer: PartialAnswer = { text: "" }
  const body: Core.ChatRequest = { model, messages, stream: true, stream_options: { include_usage: true } }
  const done = await streamEvents<Core.ChatChunk | Core.ErrorBody>(
    "/v1/chat/completions",
    { body, signal },
    (chunk) => {
      if ("error" in chunk) throw errorOf(chunk.error)
      const [choice] = chunk.choices
      answer = {
        text: answer.text + (choice?.delta.content ?? ""),
        finishReason: choice?.finish_reason ?? answer.finishReason,
        usage: chunk.usage ?? answer.usage
      }
      onText(answer)
    }
  )
  if (answer.finishReason === undefined && !(done && answer.text !== "")) throw brokenStream()
  return answer
}
