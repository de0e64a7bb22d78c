/** Counts the usage of calls: at most before the call, and by the server's own count after it. */
import type {
  ChatRequest,
  EmbeddingRequest,
  ImageRequest,
  RerankRequest,
  VideoRequest
} from "@sluice/core/contract"
import {
  chatInputTokens,
  embeddingTexts,
  imageUsage,
  mostChatUsage,
  mostRerankUsage,
  mostTextUsage,
  NO_USAGE,
  nonTextCharacters,
  type PaidOperation,
  rerankTexts,
  searchesOf,
  type Usage,
  videoUsage
} from "@sluice/core/prices"
import { countTokens } from "@sluice/embedded"
import { hidesUsage } from "../routing/StreamUsage.ts"

/** Average characters of a token in JSON. */
const CHARACTERS_A_TOKEN = 4

/** How calls of one kind are counted. */
export interface Meter<Request> {
  readonly operation: PaidOperation
  /** The call creates something upstream at a cost, so it must not be repeated. */
  readonly creates: boolean
  /** The usage at most. A token has at least one character. */
  readonly most: (request: Request, nonText?: number) => Usage
  /** The usage before a response, by the server's own count. */
  readonly countUsage: (request: Request, nonText?: number) => Usage
  /** Characters of the body in addition to its texts, such as tools and schemas. */
  readonly nonText?: (request: Request, body: string) => number
  /** Whether the request limits its output. */
  readonly isLimited?: (request: Request) => boolean
  /** Whether the caller did not request the usage of a stream. */
  readonly hidesUsage?: (request: Request) => boolean
}

const tokensOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + countTokens(text), 0)

export const embeddingsMeter: Meter<EmbeddingRequest> = {
  operation: "embeddings",
  creates: false,
  most: (request) => mostTextUsage(embeddingTexts(request)),
  countUsage: (request) => ({ ...NO_USAGE, inputTokens: tokensOf(embeddingTexts(request)) })
}

export const rerankMeter: Meter<RerankRequest> = {
  operation: "rerank",
  creates: false,
  most: mostRerankUsage,
  countUsage: (request) => ({
    ...NO_USAGE,
    inputTokens: tokensOf(rerankTexts(request)),
    searches: searchesOf(request)
  })
}

export const chatMeter: Meter<ChatRequest> = {
  operation: "chat",
  creates: false,
  most: mostChatUsage,
  countUsage: (request, nonText = 0) => ({
    ...NO_USAGE,
    inputTokens: chatInputTokens(request, tokensOf) + Math.ceil(nonText / CHARACTERS_A_TOKEN)
  }),
  nonText: nonTextCharacters,
  isLimited: ({ max_tokens }) => max_tokens !== undefined,
  hidesUsage
}

export const imagesMeter: Meter<ImageRequest> = {
  operation: "images",
  creates: true,
  most: imageUsage,
  countUsage: imageUsage
}

export const videosMeter: Meter<VideoRequest> = {
  operation: "videos",
  creates: true,
  most: videoUsage,
  countUsage: videoUsage
}
