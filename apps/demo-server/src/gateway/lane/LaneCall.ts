/** The calls that the lane knows, each with the form of its usual requests: what the contract would make of them as it is. */
import {
  type ChatRequest,
  type EmbeddingRequest,
  MOST_CHOICES,
  type RerankRequest
} from "@sluice/core/contract"
import { Predicate } from "effect"
import { NEW_NAME } from "../ChatLimit.ts"
import { chatMeter, embeddingsMeter, type Meter, rerankMeter } from "../../billing/Meter.ts"
import type { Operation, Operations } from "../../routing/Provider.ts"

type Fields = Readonly<Record<string, unknown>>

interface CallOf<Request> {
  readonly meter: Meter<Request>
  readonly pick: (operations: Operations) => Operation<Request, unknown> | undefined
  /** The request as the contract would decode it; undefined where more than a look is needed for that. */
  readonly requestIn: (fields: Fields, text: string) => (Request & { readonly model: string }) | undefined
}

const isModel = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= 256

const isText = (value: unknown): value is string => typeof value === "string"

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.length > 0 && value.every(isText)

const ROLES: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant"])

const isMessage = (value: unknown): boolean => {
  if (!Predicate.isObject(value)) return false
  const { content, role, ...more } = value
  for (const _ in more) return false
  return isText(content) && ROLES.has(role)
}

const chat: CallOf<ChatRequest> = {
  meter: chatMeter,
  pick: ({ chat }) => chat,
  requestIn: (
    { max_completion_tokens, messages, model, n, stream, stream_options, temperature, ...more },
    text
  ) => {
    const { max_tokens = max_completion_tokens } = more
    if (!isModel(model) || !Array.isArray(messages) || messages.length === 0) return undefined
    if (!messages.every(isMessage)) return undefined
    if (
      max_completion_tokens !== undefined &&
      (max_completion_tokens !== max_tokens || !text.includes(NEW_NAME))
    )
      return undefined
    if ((stream !== undefined && stream !== false) || stream_options !== undefined) return undefined
    if (max_tokens !== undefined && !(Number.isSafeInteger(max_tokens) && Number(max_tokens) >= 1))
      return undefined
    if (n !== undefined && !(Number.isSafeInteger(n) && Number(n) >= 1 && Number(n) <= MOST_CHOICES))
      return undefined
    if (
      temperature !== undefined &&
      !(typeof temperature === "number" && temperature >= 0 && temperature <= 2)
    )
      return undefined
    return {
      model,
      messages: messages as ChatRequest["messages"],
      ...(max_tokens !== undefined && { max_tokens: Number(max_tokens) }),
      ...(n !== undefined && { n: Number(n) })
    }
  }
}

const embeddings: CallOf<EmbeddingRequest> = {
  meter: embeddingsMeter,
  pick: ({ embeddings }) => embeddings,
  requestIn: ({ encoding_format, input, model }) => {
    if (!isModel(model) || !(isText(input) || isTexts(input))) return undefined
    if (encoding_format !== undefined && encoding_format !== "float" && encoding_format !== "base64")
      return undefined
    return { model, input, ...(encoding_format !== undefined && { encoding_format }) }
  }
}

const rerank: CallOf<RerankRequest> = {
  meter: rerankMeter,
  pick: ({ rerank }) => rerank,
  requestIn: ({ documents, model, query, return_documents, top_n }) => {
    if (!isModel(model) || !isText(query) || query === "" || !isTexts(documents)) return undefined
    if (return_documents !== undefined && typeof return_documents !== "boolean") return undefined
    if (top_n !== undefined && !(Number.isSafeInteger(top_n) && Number(top_n) >= 0)) return undefined
    return { model, query, documents, ...(top_n !== undefined && { top_n: Number(top_n) }) }
  }
}

/** One of them; which request it takes is its own matter. */
export type LaneCall = CallOf<{ readonly model: string }>

/** By their paths, to the letter. */
export const LANE_CALLS: ReadonlyMap<string, LaneCall> = new Map<string, unknown>([
  ["/v1/chat/completions", chat],
  ["/v1/embeddings", embeddings],
  ["/v1/rerank", rerank],
  ["/v2/rerank", rerank]
]) as ReadonlyMap<string, LaneCall>
