/** Requests of the interface as Anthropic's messages. */
import { Effect, Struct } from "effect"
import type { ErrorFields, Fields, InterfaceRequest, RequestTools } from "../protocol/Dialect.ts"
import { jsonAt, present } from "../protocol/JsonValues.ts"
import { base64Of, conversationOf, type MessagePart, stopsOf } from "./Chat.ts"
import { toolChoiceOf, toolsOf } from "./Tools.ts"

/** The vendor requires a limit. The interface's requests may have none. */
const MAX_TOKENS = 8192

/** Fields of the interface and of OpenAI that this version refuses. Its compatible endpoint ignores them too. */
const REFUSED = [
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "max_completion_tokens",
  "n",
  "parallel_tool_calls",
  "presence_penalty",
  "reasoning_effort",
  "response_format",
  "seed",
  "stop",
  "store",
  "stream_options",
  "temperature",
  "top_k",
  "top_logprobs",
  "top_p",
  "user"
]

const imageOf = (image: string, tools: RequestTools): Effect.Effect<Fields, ErrorFields> =>
  /^https?:/i.test(image)
    ? Effect.succeed({ type: "image", source: { type: "url", url: image } })
    : Effect.map(base64Of(image, tools), ({ data, mediaType }) => ({
        type: "image",
        source: { type: "base64", media_type: mediaType, data }
      }))

const partOf = (part: MessagePart): Fields => {
  switch (part.type) {
    case "text":
      return part
    case "image":
      return part.image
    case "call":
      return { type: "tool_use", id: part.id, name: part.name, input: part.input }
    case "result":
      return { type: "tool_result", tool_use_id: part.id, content: part.parts.map(partOf) }
  }
}

const CHOICES: Readonly<Record<string, string>> = { auto: "auto", none: "none", required: "any" }

/** The tools, and which of them has to be called. */
const toolFields = (asked: InterfaceRequest): Fields => {
  const { functions, own } = toolsOf(asked)
  if (functions.length + own.length === 0) return { tools: undefined, tool_choice: undefined }
  const { mode, name } = toolChoiceOf(asked)
  const type = name === undefined ? CHOICES[mode ?? "auto"] : "tool"
  const isSingle = asked["parallel_tool_calls"] === false && type !== "none"
  const declared = functions.map(({ description, name, parameters, strict }) =>
    present({ name, description, input_schema: parameters ?? { type: "object" }, strict })
  )
  return {
    tools: [...declared, ...own],
    tool_choice:
      type === undefined
        ? asked["tool_choice"]
        : present({ type, name, disable_parallel_tool_use: isSingle ? true : undefined })
  }
}

export const messagesRequest = (asked: InterfaceRequest, tools: RequestTools) =>
  Effect.gen(function* () {
    if (Number(asked["n"] ?? 1) > 1) {
      return yield* Effect.fail({ message: "Anthropic gives one answer per call. Leave out `n`", param: "n" })
    }
    const { system, messages } = yield* conversationOf(asked, (image) => imageOf(image, tools))
    const schema = jsonAt(asked, "response_format", "json_schema", "schema")
    return present({
      ...Struct.omit(asked as Fields, REFUSED),
      max_tokens: asked["max_tokens"] ?? asked["max_completion_tokens"] ?? MAX_TOKENS,
      system,
      messages: messages.map(({ parts, role }) => ({ role, content: parts.map(partOf) })),
      stop_sequences: stopsOf(asked),
      output_config: schema === undefined ? undefined : { format: { type: "json_schema", schema } },
      ...toolFields(asked)
    })
  })
