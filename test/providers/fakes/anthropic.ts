/** Anthropic's Messages. `@anthropic-ai/sdk` decodes its responses in the tests. */
import { VENDOR_KEY } from "../VendorServer.ts"
import { CALLS, only, Refusal, routes } from "./Texts.ts"

const usage = {
  input_tokens: 3,
  cache_read_input_tokens: 2,
  cache_creation_input_tokens: 0,
  output_tokens: 2
}

/** What the fake says: `good day`, or what the last message asks for. */
const ending = (messages: unknown) => {
  const text = JSON.stringify(messages)
  if (text.includes("forbidden")) return "refusal"
  return text.includes("at length") ? "max_tokens" : "end_turn"
}

const events = (parts: ReadonlyArray<Readonly<Record<string, unknown>> & { readonly type: string }>) =>
  parts.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join("")

const isBlock = (block: unknown): boolean => {
  const { content, source, text, type, ...more } = block as Record<
    string,
    Record<string, unknown> | string | undefined
  >
  if (type === "text") return typeof text === "string" && text !== ""
  if (type === "tool_use") {
    only(more, "id", "name", "input")
    return /^[\w-]+$/.test(String(more["id"])) && typeof more["input"] === "object"
  }
  if (type === "tool_result") {
    only(more, "tool_use_id")
    return Array.isArray(content) && content.every(isBlock)
  }
  if (type !== "image" || typeof source !== "object") return false
  return source["type"] === "url"
    ? typeof source["url"] === "string"
    : source["type"] === "base64" &&
        String(source["media_type"]).startsWith("image/") &&
        source["data"] !== undefined
}

interface Block {
  readonly type: string
  readonly id?: string
  readonly tool_use_id?: string
}

/** Each call is answered in the next message. */
const checkResults = (messages: ReadonlyArray<{ readonly content: ReadonlyArray<Block> | string }>) => {
  const idsOf = (at: number, name: "id" | "tool_use_id") =>
    [messages[at]?.content ?? []]
      .flat()
      .flatMap((block) => (typeof block === "string" ? [] : (block[name] ?? [])))
  for (const at of messages.keys()) {
    const missing = idsOf(at, "id").find((id) => !idsOf(at + 1, "tool_use_id").includes(id))
    if (missing !== undefined) {
      throw new Refusal(400, `messages.${at}: \`tool_use\` ids without \`tool_result\`: ${missing}`)
    }
  }
}

interface Tools {
  readonly tools?: ReadonlyArray<Record<string, unknown>>
  readonly tool_choice?: { readonly type: string; readonly disable_parallel_tool_use?: boolean }
}

/** The calls that the fake makes once it has tools: both, or one. */
const callsOf = ({ tool_choice: choice, tools = [] }: Tools, messages: unknown) => {
  for (const tool of tools) {
    only(tool, "name", "description", "input_schema", "strict")
    if (typeof tool["input_schema"] !== "object")
      throw new Refusal(400, "tools.0.input_schema: Field required")
  }
  if (choice !== undefined && !["auto", "any", "tool", "none"].includes(choice.type)) {
    throw new Refusal(400, "tool_choice: Input tag is not valid")
  }
  if (tools.length === 0 || choice?.type === "none" || JSON.stringify(messages).includes("tool_result"))
    return []
  const calls = CALLS.map((call) => ({ type: "tool_use", ...call }))
  return choice?.disable_parallel_tool_use === true ? calls.slice(0, 1) : calls
}

/** The events of a call, whose arguments arrive in pieces. */
const callEvents = ({ input, ...call }: { readonly input: object }, at: number) => {
  const json = Object.keys(input).length === 0 ? "" : JSON.stringify(input)
  const piece = (partial_json: string) => ({
    type: "content_block_delta",
    index: at,
    delta: { type: "input_json_delta", partial_json }
  })
  return [
    { type: "content_block_start", index: at, content_block: { ...call, input: {} } },
    piece(json.slice(0, 5)),
    ...(json === "" ? [] : [piece(json.slice(5))]),
    { type: "content_block_stop", index: at }
  ]
}

export const anthropicFake = routes(
  {
    "/v1/messages": (body) => {
      only(
        body,
        "model",
        "messages",
        "system",
        "max_tokens",
        "output_config",
        "stop_sequences",
        "stream",
        "tools",
        "tool_choice"
      )
      const { max_tokens: limit, messages, model, stream } = body
      if (typeof limit !== "number") throw new Refusal(400, "max_tokens: Field required")
      for (const { content, role } of messages as ReadonlyArray<{ role: string; content: unknown }>) {
        if (role !== "user" && role !== "assistant")
          throw new Refusal(400, `messages: Unexpected role "${role}"`)
        if (typeof content !== "string" && !(Array.isArray(content) && content.every(isBlock))) {
          throw new Refusal(400, "messages.0.content.0: Input should be a valid block")
        }
      }
      if (JSON.stringify(messages).includes("no credit")) {
        throw new Refusal(400, "Your credit balance is too low to access the Anthropic API.")
      }
      checkResults(messages as Parameters<typeof checkResults>[0])
      const calls = callsOf(body as Tools, messages)
      const reason = calls.length > 0 ? "tool_use" : ending(messages)
      const message = { id: "msg_1", type: "message", role: "assistant", model, stop_sequence: null }
      if (stream !== true) {
        const content = [{ type: "text", text: "good day", citations: null }]
        return { ...message, content: calls.length > 0 ? calls : content, stop_reason: reason, usage }
      }
      const delta = (text: string) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text }
      })
      return events([
        {
          type: "message_start",
          message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
        },
        { type: "ping" },
        ...(calls.length > 0
          ? calls.flatMap(callEvents)
          : [
              { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
              delta("good"),
              delta(" day"),
              { type: "content_block_stop", index: 0 }
            ]),
        {
          type: "message_delta",
          delta: { stop_reason: reason, stop_sequence: null },
          usage: { output_tokens: 2 }
        },
        ...(JSON.stringify(messages).includes("overload")
          ? [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }]
          : [{ type: "message_stop" }])
      ])
    },
    "/v1/models": () => ({
      data: [
        { type: "model", id: "claude-opus-4-5", display_name: "Claude", created_at: "2025-11-01T00:00:00Z" }
      ],
      has_more: false,
      first_id: "claude-opus-4-5",
      last_id: "claude-opus-4-5"
    })
  },
  ({ headers }) =>
    headers.authorization === `Bearer ${VENDOR_KEY}` && headers["anthropic-version"] === "2026-10-21",
  (message, status) => ({
    type: "error",
    error: { type: status === 401 ? "authentication_error" : "invalid_request_error", message },
    request_id: "req_1"
  })
)
