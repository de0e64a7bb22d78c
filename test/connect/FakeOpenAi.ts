/** A compatible server on a loopback port: it lists models, embeds, answers with citations, and draws. */
import { Effect } from "effect"
import { type LoopbackRequest, loopback } from "../demo-server/Loopback.ts"
import { openAiError, openAiModels } from "../providers/fakes/openai.ts"

/** One red pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

const MODELS = ["gpt-4o-mini", "gpt-image-1", "text-embedding-3-large", "text-embedding-3-small", "tts-1"]

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }

/** A vector by the words that the tests ask for. */
const vectorOf = (text: string) => [/heron/i.test(text) ? 1 : 0, /boat/i.test(text) ? 1 : 0, 0.1]

const embeddings = (body: { readonly input: string | ReadonlyArray<string>; readonly model: string }) => ({
  object: "list",
  model: body.model,
  data: [body.input].flat().map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) })),
  usage
})

/** Answers a question about passages with a quote, as the reader's prompt asks; any other chat with a word. */
const chatText = (messages: ReadonlyArray<{ readonly content: unknown }>) => {
  const asked = String(messages.at(-1)?.content)
  if (!asked.startsWith("Passages:")) return "ok"
  const quote = "The heron waits at the weir."
  return JSON.stringify({ text: "It waits at the weir.", citations: [{ passage: 1, quote }] })
}

const chat = (body: {
  readonly messages: ReadonlyArray<{ readonly content: unknown }>
  readonly model: string
}) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_790_000_000,
  model: body.model,
  choices: [
    { index: 0, message: { role: "assistant", content: chatText(body.messages) }, finish_reason: "stop" }
  ],
  usage
})

/** The chat as one event. */
const events = (body: Parameters<typeof chat>[0]) => {
  const { choices, ...rest } = chat(body)
  const deltas = choices.map(({ message, ...choice }) => ({ ...choice, delta: message }))
  return `data: ${JSON.stringify({ ...rest, object: "chat.completion.chunk", choices: deltas })}\n\ndata: [DONE]\n\n`
}

const respond = (key: string, { body, headers, path, response }: LoopbackRequest) => {
  const send = (status: number, content: object | string) => {
    const type = typeof content === "string" ? "text/event-stream" : "application/json"
    response.writeHead(status, { "content-type": type })
    response.end(typeof content === "string" ? content : JSON.stringify(content))
  }
  if (headers.authorization !== `Bearer ${key}`) {
    // Some vendors repeat the key.
    const secret = headers["x-secret"] ?? ""
    const message = `Incorrect API key provided: ${headers.authorization} ${secret}`
    return send(401, openAiError(message, null, "invalid_api_key"))
  }
  if (path.split("?")[0] === "/v1/models") return send(200, openAiModels(...MODELS))
  const asked = JSON.parse(body)
  if (path === "/v1/embeddings") return send(200, embeddings(asked))
  if (path === "/v1/chat/completions") return send(200, asked.stream === true ? events(asked) : chat(asked))
  if (path === "/v1/images/generations") {
    return send(200, { created: 1_790_000_000, data: [{ b64_json: PIXEL }] })
  }
  return send(404, openAiError(`Unknown request URL: ${path}`, null, "unknown_url"))
}

export const OPENAI_KEY = "sk-openai-0123456789abcdef"

export const SECOND_KEY = "sk-second-0123456789abcdef"

/** Starts it. Another key is refused. */
export const startWithKey = (key: string) => loopback((request) => respond(key, request))

/** What it does unless a test says otherwise. */
export const answersAsOpenAi = (request: LoopbackRequest) => respond(OPENAI_KEY, request)

export const startFakeOpenAi = Effect.suspend(() => startWithKey(OPENAI_KEY))
