/**
 * `POST /v1/chat/completions`: messages of text and images to a text, whole or as it comes.
 *
 * With `stream: true` the answer is server-sent events of `ChatChunk`, the last one `[DONE]`.
 */
import { Schema } from "effect"
import { Sse } from "effect/encoding"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ErrorBody, failures } from "./Failure.ts"
import { base64Bytes } from "./Base64.ts"
import { ApiKeyAuth } from "./Credentials.ts"
import { open, optional, usual } from "./Fields.ts"

/** Bytes of one image at most, decoded. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024

/** How closely a model looks: `low` is fast, `high` is precise, with `auto` the gateway chooses. */
export const ImageDetail = Schema.Literals(["low", "high", "auto"])
export type ImageDetail = typeof ImageDetail.Type

/** Text of a message, beside its images. */
export const TextPart = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })

const DATA_URI = /^data:image\/(?:png|jpeg|webp);base64,/i

/** A public URL, or a base64 data URI of a PNG, JPEG or WEBP image of at most 20 MB. GIF is not accepted. */
export const ImageUrl = Schema.String.check(
  Schema.makeFilter((url) => {
    const [head = ""] = DATA_URI.exec(url) ?? []
    if (head === "") {
      return (
        /^https?:\/\//i.test(url) ||
        "Expected an http or https URL, or a base64 data URI of a PNG, JPEG or WEBP image"
      )
    }
    return base64Bytes(url.slice(head.length)) <= MAX_IMAGE_BYTES || "Expected an image of at most 20 MB"
  })
)

/** An image of a message; several are looked at together. */
export const ImagePart = Schema.Struct({
  type: Schema.Literal("image_url"),
  image_url: Schema.Struct({
    url: ImageUrl,
    /** `low` costs 85 tokens; `auto` when not given. */
    detail: optional(ImageDetail)
  })
})

const Content = Schema.Union([Schema.String, Schema.Array(Schema.Union([TextPart, ImagePart]))])
export type ChatContent = typeof Content.Type

/** What an assistant asked tools for, as it came in its answer. */
const ToolCalls = Schema.Array(Schema.Json)

const Said = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant"]),
  content: Content,
  tool_calls: optional(ToolCalls)
})

/** An assistant's answer that was nothing but a question to tools. */
const AskedTools = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: optional(Content),
  tool_calls: ToolCalls.check(Schema.isMinLength(1))
})

/** What a tool answered. */
const ToldByTool = Schema.Struct({
  role: Schema.Literal("tool"),
  content: Content,
  tool_call_id: Schema.String
})

/**
 * What one party said: a text, or parts of text and image. Interface: “Chat message with images”.
 *
 * **Details.** The interface names no tools; clients go on with a conversation about them in OpenAI's form.
 */
export const ChatMessage = Schema.Union([Said, AskedTools, ToldByTool]).annotate({
  identifier: "ChatMessage"
})
export type ChatMessage = typeof ChatMessage.Type

/** The most answers that are asked for at once. */
export const MOST_CHOICES = 128

/** A question. `max_tokens` are those of the answer, at most. Interface: “Image understanding”. */
export const ChatRequest = open(
  {
    model: Schema.NonEmptyString,
    messages: Schema.Array(ChatMessage).check(Schema.isMinLength(1)),
    max_tokens: optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
    /** Answers to choose from, each of up to `max_tokens`; one when not given. The interface does not name it. */
    n: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MOST_CHOICES }))),
    /** 0 to 2; 0 is as deterministic as the model can be. */
    temperature: optional(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 2 }))),
    stream: optional(Schema.Boolean),
    stream_options: optional(Schema.Struct({ include_usage: optional(Schema.Boolean) }))
  },
  "ChatRequest"
)
export type ChatRequest = typeof ChatRequest.Type

/** Tokens of the question, of the answer, and of both; more than both where a model thinks. */
export const ChatUsage = open({
  prompt_tokens: usual(Schema.Int),
  completion_tokens: usual(Schema.Int),
  total_tokens: usual(Schema.Int)
})

/** A whole answer: its text is at `choices[0].message.content`. */
export const ChatResponse = open(
  {
    id: usual(Schema.String),
    object: usual(Schema.String),
    /** Seconds since 1970. */
    created: usual(Schema.Int),
    model: usual(Schema.String),
    choices: Schema.Array(
      open({
        index: usual(Schema.Int),
        /** Some models leave the text out where all tokens went into thinking. */
        message: open({
          role: usual(Schema.String),
          content: Schema.optionalKey(Schema.NullOr(Schema.String))
        }),
        finish_reason: usual(Schema.String)
      })
    ).check(Schema.isMinLength(1)),
    usage: optional(ChatUsage)
  },
  "ChatResponse"
)
export type ChatResponse = typeof ChatResponse.Type

/** A piece of an answer that is streamed: its text is at `choices[0].delta.content`. */
export const ChatChunk = open(
  {
    id: optional(Schema.String),
    object: optional(Schema.String),
    created: optional(Schema.Int),
    model: optional(Schema.String),
    /** Empty in the chunk that carries the usage. */
    choices: Schema.Array(
      open({
        index: optional(Schema.Int),
        delta: open({ role: optional(Schema.String), content: optional(Schema.String) }),
        finish_reason: optional(Schema.String)
      })
    ),
    usage: optional(ChatUsage)
  },
  "ChatChunk"
)
export type ChatChunk = typeof ChatChunk.Type

/** The literal that ends a stream. */
export const DONE = "[DONE]"

/** One event: a chunk, the end, or a failure after the answer had begun. */
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
