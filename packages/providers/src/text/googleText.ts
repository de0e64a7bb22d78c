/** Gemini's own chat and embeddings. */
import { parseJson } from "@sluice/core/client"
import { Effect, Predicate } from "effect"
import { randomUUID } from "node:crypto"
import type { Dialect, EventMap, Fields, InterfaceRequest, RequestTools } from "../protocol/Dialect.ts"
import {
  base64Of,
  type Choice,
  completionOf,
  conversationOf,
  makeChunks,
  type MessagePart,
  stopsOf,
  chatUsage,
  textOf
} from "./Chat.ts"
import { embeddingsOf, inputTexts, inputType } from "./Embeddings.ts"
import { type ToolCall, toolChoiceOf, toolsOf } from "./Tools.ts"
import { itemsAt, jsonAt, numberAt, present, textAt } from "../protocol/JsonValues.ts"

const FINISH_REASONS: Readonly<Record<string, string>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter"
}

const finishReason = (reason: string, hasCalls: boolean): string =>
  reason === "STOP" && hasCalls ? "tool_calls" : (FINISH_REASONS[reason] ?? reason.toLowerCase())

/** An image as a part. */
export const inlineImage = (image: string, tools: RequestTools) =>
  Effect.map(base64Of(image, tools), ({ data, mediaType }) => ({ inlineData: { mimeType: mediaType, data } }))

/** Accepted in place of a signature that the caller has not kept. Models before Gemini 3 need none. */
const NO_SIGNATURE = "skip_thought_signature_validator"
const NEEDS_SIGNATURE = /^gemini-(?![12]\b)/

/** A result as an object, which Gemini requires. */
const resultOf = (text: string): unknown => {
  const result = parseJson(text)
  return Predicate.isObject(result) ? result : { output: text }
}

const partOf = (part: MessagePart, { model }: InterfaceRequest): Fields => {
  switch (part.type) {
    case "text":
      return { text: part.text }
    case "image":
      return part.image
    case "call": {
      const { id, input, name, signature = NEEDS_SIGNATURE.test(model) ? NO_SIGNATURE : undefined } = part
      return present({ functionCall: { id, name, args: input }, thoughtSignature: signature })
    }
    case "result": {
      const { id, name, parts: given } = part
      const parts = given.flatMap((one) => (one.type === "image" ? [one.image] : []))
      const response = resultOf(textOf(given))
      return { functionResponse: { id, name, response, ...(parts.length > 0 && { parts }) } }
    }
  }
}

const MODES: Readonly<Record<string, string>> = { auto: "AUTO", none: "NONE", required: "ANY" }

/** The tools, and which of them has to be called. */
const toolFields = (asked: InterfaceRequest): Fields => {
  const { functions, own } = toolsOf(asked)
  if (functions.length + own.length === 0) return {}
  const functionDeclarations = functions.map(({ description, name, parameters }) =>
    present({ name, description, parametersJsonSchema: parameters })
  )
  const { mode = "", name } = toolChoiceOf(asked)
  const config = name === undefined ? { mode: MODES[mode] } : { mode: "ANY", allowedFunctionNames: [name] }
  return {
    tools: functions.length === 0 ? own : [{ functionDeclarations }, ...own],
    toolConfig: config.mode === undefined ? undefined : { functionCallingConfig: config }
  }
}

const request = (asked: InterfaceRequest, tools: RequestTools) =>
  Effect.gen(function* () {
    const { messages, system } = yield* conversationOf(asked, (image) => inlineImage(image, tools))
    const format = textAt(asked, "response_format", "type")
    return present({
      systemInstruction: system === undefined ? undefined : { parts: [{ text: system }] },
      contents: messages.map(({ parts, role }) => ({
        role: role === "assistant" ? "model" : "user",
        parts: parts.map((part) => partOf(part, asked))
      })),
      ...toolFields(asked),
      generationConfig: present({
        maxOutputTokens: asked["max_tokens"] ?? asked["max_completion_tokens"],
        temperature: asked["temperature"],
        topP: asked["top_p"],
        candidateCount: asked["n"],
        seed: asked["seed"],
        presencePenalty: asked["presence_penalty"],
        frequencyPenalty: asked["frequency_penalty"],
        stopSequences: stopsOf(asked),
        responseMimeType: format?.startsWith("json") === true ? "application/json" : undefined,
        responseJsonSchema: jsonAt(asked, "response_format", "json_schema", "schema")
      })
    })
  })

/** Thoughts are tokens of the completion. */
const usage = (body: unknown): Fields => {
  const count = (name: string) => numberAt(body, "usageMetadata", name)
  const completion = (count("candidatesTokenCount") ?? 0) + (count("thoughtsTokenCount") ?? 0)
  return chatUsage(count("promptTokenCount") ?? 0, completion, count("cachedContentTokenCount"))
}

const textsOf = (candidate: unknown, isThought: boolean): string =>
  itemsAt(candidate, "content", "parts")
    .map((part) => ((jsonAt(part, "thought") === true) === isThought ? (textAt(part, "text") ?? "") : ""))
    .join("")

/** The calls of tools. Older models give them no id. */
const callsOf = (candidate: unknown): ReadonlyArray<ToolCall> =>
  itemsAt(candidate, "content", "parts").flatMap((part) => {
    const call = jsonAt(part, "functionCall")
    if (call === undefined) return []
    return {
      id: textAt(call, "id") ?? `call_${randomUUID()}`,
      name: textAt(call, "name") ?? "",
      arguments: JSON.stringify(jsonAt(call, "args") ?? {}),
      signature: textAt(part, "thoughtSignature")
    }
  })

/** A refused prompt has no candidates. */
const isRefused = (body: unknown): boolean => jsonAt(body, "promptFeedback", "blockReason") !== undefined

const response = (body: unknown, asked: InterfaceRequest): Fields => {
  const choices = itemsAt(body, "candidates").map((candidate): Choice => {
    const calls = callsOf(candidate)
    return {
      text: textsOf(candidate, false),
      reasoning: textsOf(candidate, true),
      calls,
      finishReason: finishReason(textAt(candidate, "finishReason") ?? "STOP", calls.length > 0)
    }
  })
  const refused: ReadonlyArray<Choice> = isRefused(body) ? [{ text: "", finishReason: "content_filter" }] : []
  return completionOf(
    asked,
    jsonAt(body, "responseId"),
    choices.length === 0 ? refused : choices,
    usage(body)
  )
}

const events = (asked: InterfaceRequest): EventMap => {
  const chunks = makeChunks(asked)
  let isFinished = false
  /** How many calls each choice has. */
  const counts = new Map<number, number>()
  return {
    push: (event) => {
      if (event["error"] !== undefined) return [{ error: event["error"] }]
      chunks.note({
        id: textAt(event, "responseId"),
        usage: event["usageMetadata"] === undefined ? undefined : usage(event)
      })
      if (isRefused(event)) {
        isFinished = true
        return [chunks.finish("content_filter")]
      }
      return itemsAt(event, "candidates").flatMap((candidate) => {
        const index = numberAt(candidate, "index") ?? 0
        const [text, reasoning] = [textsOf(candidate, false), textsOf(candidate, true)]
        const reason = textAt(candidate, "finishReason")
        const calls = callsOf(candidate)
        const before = counts.get(index) ?? 0
        const count = before + calls.length
        counts.set(index, count)
        isFinished ||= reason !== undefined
        return [
          ...(reasoning === "" ? [] : [chunks.delta({ reasoning_content: reasoning }, index)]),
          ...(text === "" ? [] : [chunks.delta({ content: text }, index)]),
          ...calls.map((call, at) => chunks.toolCall(before + at, call, index)),
          ...(reason === undefined ? [] : [chunks.finish(finishReason(reason, count > 0), index)])
        ]
      })
    },
    // No event says that the stream is complete.
    end: () => (isFinished ? chunks.end() : [])
  }
}

const modelPath = ({ model }: InterfaceRequest) => `/v1/models/${encodeURIComponent(model)}`

const embedding = { operation: "embeddings", batch: 100, tokens: 2048 } as const

export const googleText = {
  hasInputType: true,
  list: {
    path: "/v1/models?pageSize=1000",
    parse: (body) =>
      itemsAt(body, "models").flatMap((model) => {
        const id = textAt(model, "name")?.replace(/^models\//, "")
        // Models of images and of films are known by their names.
        const isEmbedder = itemsAt(model, "supportedGenerationMethods").includes("embedContent")
        return id === undefined ? [] : [{ id, ...(isEmbedder && { operation: "embeddings" }) }]
      })
  },
  models: {
    "gemini-embedding-001": { ...embedding, dimension: 3072 }
  },
  operations: {
    chat: {
      path: (asked) =>
        modelPath(asked) + (asked["stream"] === true ? ":streamGenerateContent?alt=sse" : ":generateContent"),
      request,
      response,
      events
    },
    embeddings: {
      path: (asked) => `${modelPath(asked)}:batchEmbedContents`,
      request: (asked) => ({
        requests: inputTexts(asked).map((text) =>
          present({
            model: `models/${asked.model}`,
            content: { parts: [{ text }] },
            taskType: inputType(asked, { query: "RETRIEVAL_QUERY", document: "RETRIEVAL_DOCUMENT" }),
            outputDimensionality: asked["dimensions"]
          })
        )
      }),
      response: (body, asked) =>
        embeddingsOf(
          asked,
          body,
          itemsAt(body, "embeddings").map((one) => jsonAt(one, "values"))
        )
    }
  }
} satisfies Partial<Dialect>
