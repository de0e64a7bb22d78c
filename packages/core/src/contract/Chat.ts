/**
 * `POST /v1/chat/completions`: answers messages of text and images with text.
 *
 * With `stream: true` the response is server-sent events of `ChatChunk`. The last event is `[DONE]`.
 */
import { Schema } from "effect"
import { Sse } from "effect/encoding"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ErrorBody } from "./Failure.ts"
import { base64ByteLength } from "./Base64.ts"
import { ApiKeyAuth } from "./Credentials.ts"
import { MAX_IMAGE_BYTES } from "./ImageLimits.ts"
import { between, field, namedOpenStruct, openStruct, optional, lenient } from "./Fields.ts"

/** The resolution at which a model reads an image: `low` is fast, `high` is precise, `auto` lets the gateway choose. */
export const ImageDetail = Schema.Literals(["low", "high", "auto"])
export type ImageDetail = typeof ImageDetail.Type

const TextPart = Schema.Struct({
  type: field("The kind of the part.", Schema.Literal("text")),
  text: field("The text.", Schema.String)
})

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
  type: field("The kind of the part.", Schema.Literal("image_url")),
  image_url: field(
    "The image.",
    Schema.Struct({
      url: field("A public URL, or a data URI of a PNG, JPEG or WEBP image, of at most 20 MB.", ImageUrl),
      detail: optional(ImageDetail, "`low` is fast and costs 85 tokens, `high` is precise. Default: `auto`.")
    })
  )
})

const Content = Schema.Union([Schema.String, Schema.Array(Schema.Union([TextPart, ImagePart]))])
export type ChatContent = typeof Content.Type

const ToolCalls = Schema.Array(Schema.Json)

const RoleMessage = Schema.Struct({
  role: field("Who says it.", Schema.Literals(["system", "developer", "user", "assistant"])),
  content: field("The text, or parts of text and images.", Content),
  tool_calls: optional(ToolCalls, "Calls of tools, in OpenAI's form.")
})

const ToolCallMessage = Schema.Struct({
  role: field("Who says it.", Schema.Literal("assistant")),
  content: optional(Content, "The text, or parts of text and images."),
  tool_calls: field("Calls of tools, in OpenAI's form.", ToolCalls.check(Schema.isMinLength(1)))
})

const ToolMessage = Schema.Struct({
  role: field("Who says it.", Schema.Literal("tool")),
  content: field("The tool's result.", Content),
  tool_call_id: field("The id of the tool's call.", Schema.String)
})

/** Text, or parts of text and images. Interface: “Chat message with images”. Tools, which it lacks, have OpenAI's form. */
export const ChatMessage = Schema.Union([RoleMessage, ToolCallMessage, ToolMessage]).annotate({
  identifier: "ChatMessage"
})
export type ChatMessage = typeof ChatMessage.Type

/** OpenAI's limit. */
const MAX_CHOICES = 128

/** A chat request. Interface: “Image understanding”. */
export const ChatRequest = namedOpenStruct("ChatRequest", {
  model: field("The model's id.", Schema.NonEmptyString),
  messages: field("The conversation, oldest first.", Schema.Array(ChatMessage).check(Schema.isMinLength(1))),
  max_tokens: field(
    "The most tokens of the answer. Default: the model's.",
    optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
  ),
  n: field("The number of choices, each up to `max_tokens`.", optional(between(1, MAX_CHOICES)), 1),
  temperature: field(
    "0 to 2; 0 is the most deterministic. Default: the model's.",
    optional(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 2 })))
  ),
  stream: field("Whether the answer is server-sent events.", optional(Schema.Boolean), false),
  stream_options: field(
    "Options of a stream.",
    optional(
      Schema.Struct({ include_usage: optional(Schema.Boolean, "Whether a last chunk has the usage.") })
    )
  )
})
export type ChatRequest = typeof ChatRequest.Type

export const ChatUsage = openStruct({
  prompt_tokens: field("Tokens of the messages.", lenient(Schema.Int)),
  completion_tokens: field("Tokens of the answer.", lenient(Schema.Int)),
  total_tokens: field("All tokens. It may include reasoning.", lenient(Schema.Int))
})

/** A complete response. The text is at `choices[0].message.content`. */
export const ChatResponse = namedOpenStruct("ChatResponse", {
  id: field("The gateway's id of the answer.", lenient(Schema.String)),
  object: field("`chat.completion`.", lenient(Schema.String)),
  created: field("When, in seconds since 1970.", lenient(Schema.Int)),
  model: field("The model's id.", lenient(Schema.String)),
  choices: field(
    "The answers: one, or `n`.",
    Schema.Array(
      openStruct({
        index: field("The position of the choice, from 0.", lenient(Schema.Int)),
        message: field(
          "The message of the model.",
          openStruct({
            role: field("`assistant`.", lenient(Schema.String)),
            content: field(
              "The text. Null or absent if reasoning used all tokens.",
              Schema.optionalKey(Schema.NullOr(Schema.String))
            )
          })
        ),
        finish_reason: field(
          "Why it ended: `stop`, `length`, `content_filter`, `tool_calls`.",
          lenient(Schema.String)
        )
      })
    ).check(Schema.isMinLength(1))
  ),
  usage: field("The tokens that are billed.", optional(ChatUsage))
})
export type ChatResponse = typeof ChatResponse.Type

/** A streamed piece. The text is at `choices[0].delta.content`. */
export const ChatChunk = namedOpenStruct("ChatChunk", {
  id: field("The gateway's id of the answer.", optional(Schema.String)),
  object: field("`chat.completion.chunk`.", optional(Schema.String)),
  created: field("When, in seconds since 1970.", optional(Schema.Int)),
  model: field("The model's id.", optional(Schema.String)),
  choices: field(
    "Empty in the chunk that carries the usage.",
    Schema.Array(
      openStruct({
        index: field("The position of the choice, from 0.", optional(Schema.Int)),
        delta: field(
          "What is added to the message.",
          openStruct({
            role: field("`assistant`, in the first chunk.", optional(Schema.String)),
            content: field("The next piece of the text.", optional(Schema.String))
          })
        ),
        finish_reason: field("Why it ended, in the last chunk of the choice.", optional(Schema.String))
      })
    )
  ),
  usage: field("The tokens that are billed. Only with `stream_options.include_usage`.", optional(ChatUsage))
})
export type ChatChunk = typeof ChatChunk.Type

/** The literal that ends a stream. */
export const DONE = "[DONE]"

/** One event: a chunk, the end, or a failure in the middle of the stream. */
export const ChatEvent = Schema.Struct({
  ...Sse.EventEncoded.fields,
  data: field(
    "A chunk as JSON, an error, or `[DONE]` at the end.",
    Schema.Union([
      Schema.Literal(DONE),
      Schema.fromJsonString(Schema.toCodecJson(Schema.Union([ErrorBody, ChatChunk])))
    ])
  )
})
export type ChatEvent = typeof ChatEvent.Type

/** The call of `/v1/chat/completions`. Interface: “Image understanding”. */
export const ChatGroup = HttpApiGroup.make("chat")
  .add(
    HttpApiEndpoint.post("create", "/v1/chat/completions", {
      payload: ChatRequest,
      success: [ChatResponse, HttpApiSchema.StreamSse({ events: ChatEvent })]
    })
  )
  .middleware(ApiKeyAuth)
  .annotateMerge(OpenApi.annotations({ title: "Chat", description: "Text and images to text" }))
