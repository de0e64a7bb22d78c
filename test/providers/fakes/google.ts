/** Gemini's chat and embeddings. `@google/genai` decodes its responses in the tests. */
import { VENDOR_KEY } from "../VendorServer.ts"
import { CALLS, only, Refusal, routes, vectorAt } from "./Texts.ts"

const MODEL = "gemini-2.5-flash"

const ending = (contents: unknown) => {
  const text = JSON.stringify(contents)
  if (text.includes("forbidden")) return "SAFETY"
  return text.includes("at length") ? "MAX_TOKENS" : "STOP"
}

const usageMetadata = {
  promptTokenCount: 5,
  candidatesTokenCount: 1,
  thoughtsTokenCount: 1,
  cachedContentTokenCount: 2,
  totalTokenCount: 7
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null

const isPart = (part: Record<string, unknown>) => {
  const { functionCall: call, functionResponse: result, inlineData: data } = part
  if (isObject(call)) {
    if (typeof part["thoughtSignature"] !== "string") {
      throw new Refusal(400, "Function call is missing a thought_signature in functionCall parts.")
    }
    return typeof call["name"] === "string" && isObject(call["args"])
  }
  if (isObject(result)) return typeof result["name"] === "string" && isObject(result["response"])
  return typeof part["text"] === "string" || (isObject(data) && typeof data["data"] === "string")
}

/** The calls that the fake makes once it has tools. */
const callParts = (body: Readonly<Record<string, unknown>>) => {
  const { contents, toolConfig, tools } = body
  if (tools === undefined) return []
  for (const { functionDeclarations } of tools as ReadonlyArray<{ functionDeclarations: Array<object> }>) {
    for (const one of functionDeclarations) only({ ...one }, "name", "description", "parametersJsonSchema")
  }
  const { mode = "AUTO" } =
    (toolConfig as { functionCallingConfig?: { mode?: string } })?.functionCallingConfig ?? {}
  if (!["AUTO", "ANY", "NONE"].includes(mode)) throw new Refusal(400, "Invalid value at tool_config")
  if (mode === "NONE" || JSON.stringify(contents).includes("functionResponse")) return []
  return CALLS.map(({ input, ...call }) => ({
    functionCall: { ...call, args: input },
    thoughtSignature: `sig ${call.name}`
  }))
}

const check = (body: Readonly<Record<string, unknown>>) => {
  only(body, "contents", "systemInstruction", "generationConfig", "safetySettings", "tools", "toolConfig")
  for (const { parts, role } of body["contents"] as ReadonlyArray<{
    role: string
    parts: Array<Record<string, unknown>>
  }>) {
    if (role !== "user" && role !== "model") throw new Refusal(400, "Please use a valid role: user, model.")
    if (parts.length === 0 || !parts.every(isPart))
      throw new Refusal(400, "contents.parts must not be empty.")
  }
  if (JSON.stringify(body).includes("blocked")) {
    return {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 5 },
      responseId: "g-1"
    }
  }
  return undefined
}

const part = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }],
  modelVersion: MODEL,
  responseId: "g-1"
})

export const googleFake = routes(
  {
    [`/v1/models/${MODEL}:generateContent`]: (body) => {
      const calls = callParts(body)
      const content = calls.length > 0 && { content: { role: "model", parts: calls } }
      return (
        check(body) ?? {
          ...part("good day", { ...content, finishReason: ending(body["contents"]) }),
          usageMetadata
        }
      )
    },
    [`/v1/models/${MODEL}:streamGenerateContent`]: (body, { path }) => {
      if (!path.endsWith("?alt=sse")) throw new Refusal(400, "alt must be sse")
      const blocked = check(body)
      const calls = callParts(body).map((call, at) =>
        part("", {
          content: { role: "model", parts: [call] },
          ...(at > 0 && { finishReason: "STOP" })
        })
      )
      const isCut = JSON.stringify(body).includes("cut")
      const parts =
        blocked === undefined
          ? (calls.length > 0 && calls) || [
              part("good"),
              { ...part(" day", isCut ? {} : { finishReason: ending(body["contents"]) }), usageMetadata }
            ]
          : [blocked]
      return parts.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join("")
    },
    "/v1/models/gemini-embedding-001:batchEmbedContents": (body) => {
      only(body, "requests")
      const requests = body["requests"] as ReadonlyArray<Record<string, unknown>>
      for (const one of requests) {
        only(one, "model", "content", "taskType", "title", "outputDimensionality")
        if (one["model"] !== "models/gemini-embedding-001") throw new Refusal(400, "model must be the same")
      }
      const embeddings = requests.map((_, index) => ({ values: vectorAt(index) }))
      return { embeddings, usageMetadata: { promptTokenCount: 4 } }
    },
    "/v1/models": () => ({
      models: [
        { name: `models/${MODEL}`, supportedGenerationMethods: ["generateContent", "countTokens"] },
        { name: "models/gemini-embedding-001", supportedGenerationMethods: ["embedContent"] },
        { name: "models/imagen-4.0-generate-001", supportedGenerationMethods: ["predict"] }
      ]
    })
  },
  ({ headers }) => headers["x-goog-api-key"] === VENDOR_KEY,
  (message, code) => ({ error: { code, message, status: "INVALID_ARGUMENT" } })
)
