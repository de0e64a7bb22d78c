/** How much a call may use at most, and how much it uses by the server's own count. */
import type { ChatMessage } from "@sluice/core"
import type {
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
import { nonTextCharacters } from "./NonTextFields.ts"
import { NOTHING, type Usage } from "./Prices.ts"

/** Tokens of an answer where the request sets no limit: the reserve, which a longer answer may go over. */
const DEFAULT_MAX_TOKENS = 4096

/** A limit above it is taken for no limit at all. */
const LARGEST_MAX_TOKENS = 1_000_000

/** What a message costs beside its text. */
const TOKENS_A_MESSAGE = 8

/** Of a video of which the request does not say: the longest that any group makes. */
const DEFAULT_SECONDS = 15

/** Of JSON, which is what stands beside the texts, the characters of a token as a rule. */
const CHARACTERS_A_TOKEN = 4

/** Of one kind of call. */
export interface Meter<Request> {
  readonly operation: keyof Operations
  /** It makes something elsewhere that costs money each time. */
  readonly creates: boolean
  /** At most: a token is at least one character. */
  readonly most: (request: Request) => Usage
  /** What is known before an answer, by the server's own count: of `beyond` characters beside the texts too. */
  readonly counted: (request: Request, nonText?: number) => Usage
  /** Characters of the body that are read beside the texts: what the contract does not name, and passes on. */
  readonly nonText?: (request: Request, body: string) => number
  /** Whether the request itself bounds what is written. */
  readonly isLimited?: (request: Request) => boolean
  /** Whether its caller did not ask for the usage of a stream. */
  readonly hidesUsage?: (request: Request) => boolean
}

const charactersOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, { length }) => sum + length, 0)

const tokensOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + countTokens(text), 0)

const ofTexts = <Request>(
  operation: keyof Operations,
  textsOf: (request: Request) => ReadonlyArray<string>
): Meter<Request> => ({
  operation,
  creates: false,
  most: (request) => ({ ...NOTHING, inputTokens: charactersOf(textsOf(request)) }),
  counted: (request) => ({ ...NOTHING, inputTokens: tokensOf(textsOf(request)) })
})

export const embeddingsMeter = ofTexts<EmbeddingRequest>("embeddings", ({ input }) =>
  typeof input === "string" ? [input] : input
)

export const rerankMeter = ofTexts<RerankRequest>("rerank", ({ documents, query }) => [
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

export const chatMeter: Meter<ChatRequest> = {
  operation: "chat",
  creates: false,
  most: (request) => ({
    ...NOTHING,
    inputTokens: inputOf(request, charactersOf),
    outputTokens: (request.n ?? 1) * Math.min(request.max_tokens ?? DEFAULT_MAX_TOKENS, LARGEST_MAX_TOKENS)
  }),
  counted: (request, nonText = 0) => ({
    ...NOTHING,
    inputTokens: inputOf(request, tokensOf) + Math.ceil(nonText / CHARACTERS_A_TOKEN)
  }),
  nonText: nonTextCharacters,
  isLimited: ({ max_tokens }) => max_tokens !== undefined,
  hidesUsage
}

const ofImages = ({ n }: ImageRequest): Usage => ({ ...NOTHING, images: n ?? 1 })

export const imagesMeter: Meter<ImageRequest> = {
  operation: "images",
  creates: true,
  most: ofImages,
  counted: ofImages
}

const ofVideo = ({ seconds }: VideoRequest): Usage => ({
  ...NOTHING,
  seconds: seconds === undefined ? DEFAULT_SECONDS : Number(seconds)
})

export const videosMeter: Meter<VideoRequest> = {
  operation: "videos",
  creates: true,
  most: ofVideo,
  counted: ofVideo
}
