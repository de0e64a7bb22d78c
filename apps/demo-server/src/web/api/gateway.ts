/** The gateway's calls as the page makes them: signed in by its session, in the interface's own shapes. */
import { Failure } from "./RequestError.ts"
import { readEvents, request, requestBlob } from "./request.ts"

/** A model of the lists; what a gateway does not say of it is absent. */
export interface Model {
  readonly id: string
  readonly owned_by?: string
  readonly operation?: string
  readonly group?: string
  readonly note?: string
}

interface Usage {
  readonly prompt_tokens?: number
  readonly completion_tokens?: number
  readonly total_tokens?: number
}

export interface Embedded {
  readonly data: ReadonlyArray<{ readonly index: number; readonly embedding: ReadonlyArray<number> }>
  readonly usage?: Usage
}

export interface Reranked {
  readonly results: ReadonlyArray<{ readonly index: number; readonly relevance_score: number }>
  readonly usage?: Usage
}

export interface ChatPart {
  readonly type: "text" | "image_url"
  readonly text?: string
  readonly image_url?: { readonly url: string; readonly detail?: string }
}

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant"
  readonly content: string | ReadonlyArray<ChatPart>
}

/** An answer as far as it has come. */
export interface Said {
  readonly text: string
  readonly finishReason?: string
  readonly usage: Usage
}

export interface ImageRequest {
  readonly model: string
  readonly prompt: string
  readonly size?: string
  readonly n?: number
  readonly image?: string
}

export interface ImageAnswer {
  readonly id?: string
  readonly status?: string
  readonly data?: ReadonlyArray<{
    readonly url?: string
    readonly b64_json?: string
    readonly base64_json?: string
  }>
  readonly error?: unknown
}

export interface VideoRequest {
  readonly model: string
  readonly prompt: string
  readonly seconds?: string
  readonly size?: string
  readonly input_reference?: string
}

export interface Video {
  readonly id: string
  readonly status?: string
  readonly progress?: number | string
  readonly error?: unknown
}

export const listServed = (): Promise<{ data: ReadonlyArray<Model> }> => request("GET", "/v1/models")
export const listAll = (): Promise<{ data: ReadonlyArray<Model> }> => request("GET", "/api/models")

const post = <A>(path: string, body: unknown, signal: AbortSignal): Promise<A> =>
  request<A>("POST", path, { body, signal })

export const embed = (model: string, input: ReadonlyArray<string>, signal: AbortSignal): Promise<Embedded> =>
  post("/v1/embeddings", { model, input }, signal)

export const rerank = (
  body: {
    readonly model: string
    readonly query: string
    readonly documents: ReadonlyArray<string>
    readonly top_n?: number
  },
  signal: AbortSignal
): Promise<Reranked> => post("/v1/rerank", body, signal)

interface ChatChunk {
  readonly error?: { readonly message: string; readonly code: string | null }
  readonly choices?: ReadonlyArray<{
    readonly delta: { readonly content?: string | null }
    readonly finish_reason?: string | null
  }>
  readonly usage?: Usage | null
}

/** Streams an answer: `onText` is told of all of it so far, as it grows. */
export const chat = async (
  model: string,
  messages: ReadonlyArray<ChatMessage>,
  signal: AbortSignal,
  onText: (said: Said) => void
): Promise<Said> => {
  let said: Said = { text: "", usage: {} }
  const body = { model, messages, stream: true, stream_options: { include_usage: true } }
  const done = await readEvents<ChatChunk>(
    "/v1/chat/completions",
    { body, signal },
    ({ choices, error, usage }) => {
      if (error !== undefined) throw new Failure(error.message, 0, error.code ?? "unknown")
      const [choice] = choices ?? []
      const finishReason = choice?.finish_reason ?? said.finishReason
      said = {
        text: said.text + (choice?.delta.content ?? ""),
        ...(finishReason !== undefined && { finishReason }),
        usage: usage ?? said.usage ?? {}
      }
      onText(said)
    }
  )
  if (said.finishReason === undefined && !(done && said.text !== "")) {
    const when = said.text === "" ? "began" : "was whole"
    throw new Failure(`The answer broke off before it ${when}. Ask again.`, 0, "broken_stream")
  }
  return said
}

const IMAGES = "/v1/images/generations"
export const createImages = (body: ImageRequest, signal: AbortSignal): Promise<ImageAnswer> =>
  post(IMAGES, body, signal)
export const getImages = (id: string, signal: AbortSignal): Promise<ImageAnswer> =>
  request("GET", `${IMAGES}/${encodeURIComponent(id)}`, { signal })

const videoPath = (id: string): string => `/v1/videos/${encodeURIComponent(id)}`
export const createVideo = (body: VideoRequest, signal: AbortSignal): Promise<Video> =>
  post("/v1/videos", body, signal)
export const getVideo = (id: string, signal: AbortSignal): Promise<Video> =>
  request("GET", videoPath(id), { signal })
export const videoFile = (id: string, signal: AbortSignal): Promise<Blob> =>
  requestBlob(`${videoPath(id)}/content`, signal)
export const removeVideo = (id: string): Promise<void> => request("DELETE", videoPath(id))
