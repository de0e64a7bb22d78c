/** Requests of the interface as Gemini's contents. */
import { parseJson } from "@sluice/core/client"
import { Effect, Predicate } from "effect"
import type { Fields, InterfaceRequest, RequestTools } from "../protocol/Dialect.ts"
import { jsonAt, present, textAt } from "../protocol/JsonValues.ts"
import { base64Of, conversationOf, type MessagePart, stopsOf, textOf } from "./Chat.ts"
import { toolChoiceOf, toolsOf } from "./Tools.ts"

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

export const contentsRequest = (asked: InterfaceRequest, tools: RequestTools) =>
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
