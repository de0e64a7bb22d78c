/** Gemini's chat and embeddings. `@google/genai` decodes its responses in the tests. */
import { VENDOR_KEY } from "../VendorServer.ts"
import { only, Refusal, routes, vectorAt } from "./Texts.ts"

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

const isPart = (part: Record<string, unknown>) =>
  typeof part["text"] === "string" ||
  typeof (part["inlineData"] as Record<string, unknown> | undefined)?.["data"] === "string"

const check = (body: Readonly<Record<string, unknown>>) => {
  only(body, "contents", "systemInstruction", "generationConfig", "safetySettings", "tools", "toolConfig")
  for (const { parts, role } of body["contents"] as ReadonlyArray<{
    role: string
    parts: Array<Record<string, unknown>>
  }>) {
    if (role !== "user" && role !== "model") throw new Refusal(400, "Please use a valid role: user, model.")
    if (!parts.every(isPart)) throw new Refusal(400, "contents.parts must not be empty.")
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
    [`/v1/models/${MODEL}:generateContent`]: (body) =>
      check(body) ?? { ...part("good day", { finishReason: ending(body["contents"]) }), usageMetadata },
    [`/v1/models/${MODEL}:streamGenerateContent`]: (body, { path }) => {
      if (!path.endsWith("?alt=sse")) throw new Refusal(400, "alt must be sse")
      const blocked = check(body)
      const isCut = JSON.stringify(body).includes("cut")
      const parts =
        blocked === undefined
          ? [
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
