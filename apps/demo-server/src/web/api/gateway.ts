/** Calls of the gateway under `/v1`, authorized by the page's session. Types are those of the contract. */
import type * as Core from "@sluice/core/contract"
import { brokenStream, errorOf, request, requestBlob, streamEvents } from "./request.ts"

/** A model of the lists. The last three fields are this server's own; other gateways omit them. */
export type ListedModel = Core.Model & {
  readonly operation?: string
  readonly group?: string
  readonly note?: string
}

export const listServed = (): Promise<{ data: ReadonlyArray<ListedModel> }> => request("GET", "/v1/models")
export const listAll = (): Promise<{ data: ReadonlyArray<ListedModel> }> => request("GET", "/api/models")

const post = <A>(path: string, body: unknown, signal: AbortSignal): Promise<A> =>
  request<A>("POST", path, { body, signal })

export const createEmbeddings = (
  body: Core.EmbeddingRequest,
  signal: AbortSignal
): Promise<Core.EmbeddingResponse> => post("/v1/embeddings", body, signal)

export const createRerank = (body: Core.RerankRequest, signal: AbortSignal): Promise<Core.RerankResponse> =>
  post("/v1/rerank", body, signal)

/** The part of a chat answer that has arrived. */
export interface PartialAnswer {
  readonly text: string
  readonly finishReason?: string
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
      const finishReason = choice?.finish_reason ?? answer.finishReason
      const usage = chunk.usage ?? answer.usage
      answer = {
        text: answer.text + (choice?.delta.content ?? ""),
        ...(finishReason !== undefined && { finishReason }),
        ...(usage !== undefined && { usage })
      }
      onText(answer)
    }
  )
  if (answer.finishReason === undefined && !(done && answer.text !== "")) throw brokenStream()
  return answer
}

const IMAGES = "/v1/images/generations"
export const createImages = (body: Core.ImageRequest, signal: AbortSignal): Promise<Core.ImageResponse> =>
  post(IMAGES, body, signal)
export const getImages = (id: string, signal: AbortSignal): Promise<Core.ImageResponse> =>
  request("GET", `${IMAGES}/${encodeURIComponent(id)}`, { signal })

/** A video task. Gateways report `progress` as a number or as text such as `40%`. */
export type VideoTask = Core.Video & { readonly progress?: number | string }

const videoPath = (id: string): string => `/v1/videos/${encodeURIComponent(id)}`
export const createVideo = (body: Core.VideoRequest, signal: AbortSignal): Promise<VideoTask> =>
  post("/v1/videos", body, signal)
export const getVideo = (id: string, signal: AbortSignal): Promise<VideoTask> =>
  request("GET", videoPath(id), { signal })
export const downloadVideo = (id: string, signal: AbortSignal): Promise<Blob> =>
  requestBlob(`${videoPath(id)}/content`, signal)
export const deleteVideo = (id: string): Promise<void> => request("DELETE", videoPath(id))
