/** OpenAI's endpoints of text, which `openai` decodes in the tests, and the rerank that compatible servers add to them. */
import type { Received, Respond } from "../VendorServer.ts"
import { ranked, vectorAt } from "./Texts.ts"

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
const head = { id: "chatcmpl-1", created: 1_790_000_000 }

const chunk = (model: unknown, choices: ReadonlyArray<object>, more: object = {}) =>
  `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", model, choices, ...more })}\n\n`

const chat = ({ model, stream, stream_options }: Received["body"]) => {
  if (stream !== true) {
    const message = { role: "assistant", content: "good day", refusal: null }
    const choices = [{ index: 0, message, finish_reason: "stop", logprobs: null }]
    return { ...head, object: "chat.completion", model, choices, usage }
  }
  const delta = (content: string, finish_reason: string | null) => ({
    index: 0,
    delta: { content },
    finish_reason
  })
  return [
    chunk(model, [delta("good", null)]),
    chunk(model, [delta(" day", "stop")]),
    stream_options === undefined ? "" : chunk(model, [], { usage }),
    "data: [DONE]\n\n"
  ].join("")
}

const embeddings = ({ input, model }: Received["body"]) => ({
  object: "list",
  model,
  data: [input].flat().map((_, index) => ({ object: "embedding", index, embedding: vectorAt(index) })),
  usage: { prompt_tokens: 4, total_tokens: 4 }
})

/** OpenAI's form of an error. */
export const openAiError = (message: string, param: string | null, code: string | null) => ({
  error: { message, type: "invalid_request_error", param, code }
})

/** Answers by the end of the path, wherever it begins. */
export const openAiResponse: Respond = ({ body, path }) => {
  const [route = ""] = path.split("?")
  if (route.endsWith("/chat/completions")) return [200, chat(body)]
  if (route.endsWith("/embeddings")) return [200, embeddings(body)]
  if (route.endsWith("/rerank")) {
    const results = ranked(body["documents"], body["top_n"])
    const found = results.map(({ index, score, text }) => ({
      index,
      relevance_score: score,
      document: { text }
    }))
    return [
      200,
      { id: "r-1", model: body["model"], results: found, usage: { prompt_tokens: 9, total_tokens: 9 } }
    ]
  }
  return [404, openAiError(`Unknown request URL: ${path}`, null, "unknown_url")]
}

/** A list of models. */
export const openAiModels = (...ids: ReadonlyArray<string>) => ({
  object: "list",
  data: ids.map((id) => ({ id, object: "model", created: 1_790_000_000, owned_by: "system" }))
})
