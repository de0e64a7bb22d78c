/** The usage of a call at most, by its request: an upper bound, which is reserved. A token has at least one character. */
import type { ChatContent, ChatMessage, ChatRequest } from "../contract/Chat.ts"
import type { EmbeddingRequest } from "../contract/Embeddings.ts"
import type { ImageRequest } from "../contract/Images.ts"
import type { RerankRequest } from "../contract/Rerank.ts"
import type { VideoRequest } from "../contract/Videos.ts"
import { imageTokens } from "../media/ImageTokens.ts"
import { NO_USAGE, type Usage } from "./Price.ts"

/** Output tokens to reserve if the request sets no limit. A longer answer may exceed them. */
const DEFAULT_MAX_TOKENS = 4096

/** A higher limit counts as this one. */
const LARGEST_MAX_TOKENS = 1_000_000

/** Tokens of a message in addition to its text. */
const TOKENS_A_MESSAGE = 8

/** Seconds of a video if the request does not set them: the maximum of all groups. */
const DEFAULT_SECONDS = 15

const charactersOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, { length }) => sum + length, 0)

export const embeddingTexts = ({ input }: EmbeddingRequest): ReadonlyArray<string> => [input].flat()

export const rerankTexts = ({
  documents,
  query
}: Pick<RerankRequest, "documents" | "query">): ReadonlyArray<string> => [
  query,
  ...documents.map((document) => (typeof document === "string" ? document : document.text))
]

/** The usage of texts, one token for each character. */
export const mostTextUsage = (texts: ReadonlyArray<string>): Usage => ({
  ...NO_USAGE,
  inputTokens: charactersOf(texts)
})

/** Documents of one search, as vendors count that price searches. */
const DOCUMENTS_A_SEARCH = 100

export const searchesOf = ({ documents }: Pick<RerankRequest, "documents">): number =>
  Math.ceil(documents.length / DOCUMENTS_A_SEARCH)

export const mostRerankUsage = (request: Pick<RerankRequest, "documents" | "query">): Usage => ({
  ...mostTextUsage(rerankTexts(request)),
  searches: searchesOf(request)
})

const partsOf = ({ content = "" }: ChatMessage): Exclude<ChatContent, string> =>
  typeof content === "object" ? content : [{ type: "text", text: content }]

const textsOf = (message: ChatMessage): ReadonlyArray<string> =>
  partsOf(message).flatMap((part) => (part.type === "text" ? [part.text] : []))

const imageTokensOf = (message: ChatMessage): number =>
  partsOf(message).reduce(
    (sum, part) => (part.type === "text" ? sum : sum + imageTokens(part.image_url.detail).most),
    0
  )

/** The tokens of the messages, their texts counted by `size`. */
export const chatInputTokens = (
  { messages }: ChatRequest,
  size: (texts: ReadonlyArray<string>) => number
): number =>
  messages.reduce(
    (sum, message) => sum + TOKENS_A_MESSAGE + size(textsOf(message)) + imageTokensOf(message),
    0
  )

/** Characters of a simple request, and of a message, in addition to their texts. */
const AROUND = 128
const AROUND_A_MESSAGE = 48

/** Characters beyond the texts that are all counted: to parse a body of 30 MB again takes .1 s. */
const MANY = 1024 * 1024

/** Escapes rarely make a text longer than by one in this many characters. */
const ESCAPED = 16

const lengthOf = (message: ChatMessage): number =>
  charactersOf(partsOf(message).map((part) => (part.type === "text" ? part.text : part.image_url.url)))

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
 * **Details.** 0 if the body is not longer than a simple request. Only longer bodies are parsed again, if they are not very long.
 */
export const nonTextCharacters = ({ messages, model }: ChatRequest, body: string): number => {
  const texts = messages.reduce((sum, message) => sum + lengthOf(message), 0)
  const usual = texts + texts / ESCAPED + AROUND + model.length + AROUND_A_MESSAGE * messages.length
  if (body.length <= usual) return 0
  if (body.length > usual + MANY) return body.length - texts
  const fields = JSON.parse(body) as Fields & { readonly messages: ReadonlyArray<Fields> }
  return fields.messages.reduce(
    (sum, message) => sum + sizeWithout(COUNTED_OF_A_MESSAGE, message, body),
    sizeWithout(COUNTED, fields, body)
  )
}

/** `nonText`: the result of `nonTextCharacters`. */
export const mostChatUsage = (request: ChatRequest, nonText = 0): Usage => ({
  ...NO_USAGE,
  inputTokens: chatInputTokens(request, charactersOf) + nonText,
  outputTokens: (request.n ?? 1) * Math.min(request.max_tokens ?? DEFAULT_MAX_TOKENS, LARGEST_MAX_TOKENS)
})

export const imageUsage = ({ n, quality, size }: Pick<ImageRequest, "n" | "quality" | "size">): Usage => ({
  ...NO_USAGE,
  images: n ?? 1,
  size,
  quality
})

export const videoUsage = ({ seconds, size }: Pick<VideoRequest, "seconds" | "size">): Usage => ({
  ...NO_USAGE,
  seconds: seconds === undefined ? DEFAULT_SECONDS : Number(seconds),
  size
})
