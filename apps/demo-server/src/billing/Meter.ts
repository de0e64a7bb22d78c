/** Counts the usage of calls: at most before the call, and by the server's own count after it. */
import type { ChatMessage } from "@sluice/core"
import type {
  ChatContent,
  ChatRequest,
  EmbeddingRequest,
  ImageRequest,
  RerankRequest,
  VideoRequest
} from "@sluice/core/contract"
import { imageTokens } from "@sluice/core/media"
import { countTokens } from "@sluice/embedded"
import type { Operations } from "../routing/Provider.ts"
import { hidesUsage } from "../routing/StreamUsage.ts"
import { NOTHING, type Usage } from "./Prices.ts"

/** Output tokens to reserve if the request sets no limit. A longer answer may exceed them. */
const DEFAULT_MAX_TOKENS = 4096

/** A higher limit counts as this one. */
const LARGEST_MAX_TOKENS = 1_000_000

/** Tokens of a message in addition to its text. */
const TOKENS_A_MESSAGE = 8

/** Seconds of a video if the request does not set them: the maximum of all groups. */
const DEFAULT_SECONDS = 15

/** Average characters of a token in JSON. */
const CHARACTERS_A_TOKEN = 4

/** How calls of one kind are counted. */
export interface Meter<Request> {
  readonly operation: keyof Operations
  /** The call creates something upstream at a cost, so it must not be repeated. */
  readonly creates: boolean
  /** The usage at most. A token has at least one character. */
  readonly most: (request: Request) => Usage
  /** The usage before a response, by the server's own count. */
  readonly countUsage: (request: Request, nonText?: number) => Usage
  /** Characters of the body in addition to its texts, such as tools and schemas. */
  readonly nonText?: (request: Request, body: string) => number
  /** Whether the request limits its output. */
  readonly isLimited?: (request: Request) => boolean
  /** Whether the caller did not request the usage of a stream. */
  readonly hidesUsage?: (request: Request) => boolean
}

const charactersOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, { length }) => sum + length, 0)

const tokensOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + countTokens(text), 0)

const textMeter = <Request>(
  operation: keyof Operations,
  textsOf: (request: Request) => ReadonlyArray<string>
): Meter<Request> => ({
  operation,
  creates: false,
  most: (request) => ({ ...NOTHING, inputTokens: charactersOf(textsOf(request)) }),
  countUsage: (request) => ({ ...NOTHING, inputTokens: tokensOf(textsOf(request)) })
})

export const embeddingsMeter = textMeter<EmbeddingRequest>("embeddings", ({ input }) =>
  typeof input === "string" ? [input] : input
)

export const rerankMeter = textMeter<RerankRequest>("rerank", ({ documents, query }) => [
  query,
  ...documents.map((document) => (typeof document === "string" ? document : document.text))
])

const textsOf = ({ content }: ChatMessage): ReadonlyArray<string> =>
  typeof content === "object"
    ? content.flatMap((part) => (part.type === "text" ? [part.text] : []))
    : [content ?? ""]

const imagesOf = ({ content }: ChatMessage): number =>
  typeof content === "object"
    ? content.reduce((sum, part) => {
        if (part.type === "text") return sum
        return sum + imageTokens(part.image_url.detail ?? undefined).most
      }, 0)
    : 0

const inputOf = ({ messages }: ChatRequest, size: (texts: ReadonlyArray<string>) => number): number =>
  messages.reduce((sum, message) => sum + TOKENS_A_MESSAGE + size(textsOf(message)) + imagesOf(message), 0)

/** Characters of a simple request, and of a message, in addition to their texts. */
const AROUND = 128
const AROUND_A_MESSAGE = 48

/** Escapes rarely make a text longer than by one in this many characters. */
const ESCAPED = 16

const lengthOf = (content: ChatContent | undefined): number => {
  if (typeof content !== "object") return content?.length ?? 0
  return content.reduce(
    (sum, part) => sum + (part.type === "text" ? part.text : part.image_url.url).length,
    0
  )
}

type Fields = Readonly<Record<string, unknown>>

const COUNTED = new Set([
  "model",
  "messages",
  "max_tokens",
  "max_completion_tokens",
  "n",
  "stream",
  "stream_options",
  "temperature"
])
const COUNTED_OF_A_MESSAGE = new Set(["role", "content"])

/** The JSON length of the other fields; the whole body's if they are nested too deeply to stringify. */
const sizeWithout = (names: ReadonlySet<string>, fields: Fields, body: string): number => {
  const others = Object.entries(fields).filter(([name]) => !names.has(name))
  if (others.length === 0) return 0
  try {
    return JSON.stringify(Object.fromEntries(others)).length
  } catch {
    return body.length
  }
}

/**
 * The characters of fields in addition to the texts, each of which may be a token.
 *
 * **Details.** 0 if the body is not longer than a simple request. Only longer bodies are parsed again.
 */
const nonTextCharacters = ({ messages, model }: ChatRequest, body: string): number => {
  const texts = messages.reduce((sum, { content }) => sum + lengthOf(content), 0)
  const usual = texts + texts / ESCAPED + AROUND + model.length + AROUND_A_MESSAGE * messages.length
  if (body.length <= usual) return 0
  const fields = JSON.parse(body) as Fields & { readonly messages: ReadonlyArray<Fields> }
  return fields.messages.reduce(
    (sum, message) => sum + sizeWithout(COUNTED_OF_A_MESSAGE, message, body),
    sizeWithout(COUNTED, fields, body)
  )
}

export const chatMeter: Meter<ChatRequest> = {
  operation: "chat",
  creates: false,
  most: (request) => ({
    ...NOTHING,
    inputTokens: inputOf(request, charactersOf),
    outputTokens: (request.n ?? 1) * Math.min(request.max_tokens ?? DEFAULT_MAX_TOKENS, LARGEST_MAX_TOKENS)
  }),
  countUsage: (request, nonText = 0) => ({
    ...NOTHING,
    inputTokens: inputOf(request, tokensOf) + Math.ceil(nonText / CHARACTERS_A_TOKEN)
  }),
  nonText: nonTextCharacters,
  isLimited: ({ max_tokens }) => max_tokens !== undefined,
  hidesUsage
}

const imageUsage = ({ n, quality, size }: ImageRequest): Usage => ({
  ...NOTHING,
  images: n ?? 1,
  size,
  quality
})

export const imagesMeter: Meter<ImageRequest> = {
  operation: "images",
  creates: true,
  most: imageUsage,
  countUsage: imageUsage
}

const videoUsage = ({ seconds, size }: VideoRequest): Usage => ({
  ...NOTHING,
  seconds: seconds === undefined ? DEFAULT_SECONDS : Number(seconds),
  size
})

export const videosMeter: Meter<VideoRequest> = {
  operation: "videos",
  creates: true,
  most: videoUsage,
  countUsage: videoUsage
}
