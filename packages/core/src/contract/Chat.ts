/**
 * `POST /v1/chat/completions`: answers messages of text and images with text.
 *
 * With `stream: true` the response is server-sent events of `ChatChunk`. The last event is `[DONE]`.
 */
import { Schema } from "effect"
import { Sse } from "effect/encoding"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ErrorBody, failures } from "./Failure.ts"
import { base64ByteLength } from "./Base64.ts"
import { ApiKeyAuth } from "./Credentials.ts"
import { MAX_IMAGE_BYTES } from "./ImageLimits.ts"
import { namedOpenStruct, openStruct, optional, lenient } from "./Fields.ts"

/** The resolution at which a model reads an image: `low` is fast, `high` is precise, `auto` lets the gateway choose. */
export const ImageDetail = Schema.Literals(["low", "high", "auto"])
export type ImageDetail = typeof ImageDetail.Type

const TextPart = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })

const DATA_URI = /^data:image\/(?:png|jpe?g|webp);base64,/i

/** A public URL, or a base64 data URI of a PNG, JPEG or WEBP image of at most 20 MB. GIF is not accepted. */
const ImageUrl = Schema.String.check(
  Schema.makeFilter((url) => {
    const [head = ""] = DATA_URI.exec(url) ?? []
    if (head === "") {
      return (
        /^https?:\/\//i.test(url) ||
        "Expected an http or https URL, or a base64 data URI of a PNG, JPEG or WEBP image"
      )
    }
    return base64ByteLength(url.slice(head.length)) <= MAX_IMAGE_BYTES || "Expected an image of at most 20 MB"
  })
)

/** An image in a message. */
export const ImagePart = Schema.Struct({
  type: Schema.Literal("image_url"),
  image_url: Schema.Struct({
    url: ImageUrl,
    /** `low` costs 85 tokens. Default: `auto`. */
    detail: optional(ImageDetail)
  })
})

const Content = Schema.Union([Schema.String, Schema.Array(Schema.Union([TextPart, ImagePart]))])
export type ChatContent = typeof Content.Type

const ToolCalls = Schema.Array(Schema.Json)

const RoleMessage = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant"]),
  content: Content,
  tool_calls: optional(ToolCalls)
})

const ToolCallMessage = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: optional(Content),
  tool_calls: ToolCalls.check(Schema.isMinLength(1))
})

const ToolMessage = Schema.Struct({
  role: Schema.Literal("tool"),
  content: Content,
  tool_call_id: Schema.String
})

/** Text, or parts of text and images. Interface: “Chat message with images”. Tools, which it lacks, have OpenAI's form. */
export const ChatMessage = Schema.Union([RoleMessage, ToolCallMessage, ToolMessage]).annotate({
  identifier: "ChatMessage"
})
export type ChatMessage = typeof ChatMessage.Type

/** OpenAI's limit. */
const MAX_CHOICES = 128

/** A chat request. `max_tokens` limits the completion. Interface: “Image understanding”. */
export const ChatRequest = namedOpenStruct("ChatRequest", {
  model: Schema.NonEmptyString,
  messages: Schema.Array(ChatMessage).check(Schema.isMinLength(1)),
  max_tokens: optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  /** The number of choices, each up to `max_tokens`. Default: 1. Not part of the interface. */
  n: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_CHOICES }))),
  /** 0 to 2; 0 is the most deterministic. */
  temperature: optional(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 2 }))),
  stream: optional(Schema.Boolean),
  stream_options: optional(Schema.Struct({ include_usage: optional(Schema.Boolean) }))
})
export type ChatRequest = typeof ChatRequest.Type

/** Tokens of prompt, completion and total. The total may include reasoning. */
export const ChatUsage = openStruct({
  prompt_tokens: lenient(Schema.Int),
  completion_tokens: lenient(Schema.Int),
  total_tokens: lenient(Schema.Int)
})

/** A complete response. The text is at `choices[0].message.content`. */
export const ChatResponse = namedOpenStruct("ChatResponse", {
  id: lenient(Schema.String),
  object: lenient(Schema.String),
  /** Seconds since 1970. */
  created: lenient(Schema.Int),
  model: lenient(Schema.String),
  choices: Schema.Array(
    openStruct({
      index: lenient(Schema.Int),
      /** Some models omit the text if reasoning used all tokens. */
      message: openStruct({
        role: lenient(Schema.String),
        content: Schema.optionalKey(Schema.NullOr(Schema.String))
      }),
      finish_reason: lenient(Schema.String)
    })
  ).check(Schema.isMinLength(1)),
  usage: optional(ChatUsage)
})
export type ChatResponse = typeof ChatResponse.Type

/** A streamed piece. The text is at `choices[0].delta.content`. */
export const ChatChunk = namedOpenStruct("ChatChunk", {
  id: optional(Schema.String),
  object: optional(Schema.String),
  created: optional(Schema.Int),
  model: optional(Schema.String),
  /** Empty in the chunk that carries the usage. */
  choices: Schema.Array(
    openStruct({
      index: optional(Schema.Int),
      delta: openStruct({ role: optional(Schema.String), content: optional(Schema.String) }),
      finish_reason: optional(Schema.String)
    })
  ),
  usage: optional(ChatUsage)
})
export type ChatChunk = typeof ChatChunk.Type

/** The literal that ends a stream. */
export const DONE = "[DONE]"

/** One event: a chunk, the end, or a failure in the middle of the stream. */
export const ChatEvent = Schema.Struct({
  ...Sse.EventEncoded.fields,
  data: Schema.Union([
    Schema.Literal(DONE),
    Schema.fromJsonString(Schema.toCodecJson(Schema.Union([ErrorBody, ChatChunk])))
  ])
})
export type ChatEvent = typeof ChatEvent.Type

/** The call of `/v1/chat/completions`. Interface: “Image understanding”. */
export const ChatGroup = HttpApiGroup.make("chat")
  .add(
    HttpApiEndpoint.post("create", "/v1/chat/completions", {
      payload: ChatRequest,
      success: [ChatResponse, HttpApiSchema.StreamSse({ events: ChatEvent })],
      error: failures
    })
  )
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Chat", description: "Text and images to text" }))
