/**
 * Google's images and videos: `generateContent`, Imagen's `predict`, Veo's `predictLongRunning`. Decoded by
 * `@google/genai`; it sends the creations of Imagen and Veo only under the path of its enterprise service, so the fake
 * answers at both paths.
 */
import { asksFor, type Fields, makeFakeTasks, PNG, startMediaVendor, MP4 } from "./MediaVendor.ts"

const MODEL = /^\/v1(?:beta1?)?\/(?:publishers\/google\/)?models\/([\w.-]+):(\w+)$/
const OPERATION = /^\/v1(?:beta)?\/(models\/[\w.-]+\/operations\/(\w+))$/

export const startGoogleMedia = startMediaVendor((_, own) => {
  const tasks = makeFakeTasks((at) => `op${at.toString().padStart(8, "0")}`)
  const refused = (code: number, status: string, message: string, field?: string) => ({
    status: code,
    json: {
      error: {
        code,
        message,
        status,
        ...(field !== undefined && {
          details: [
            {
              "@type": "type.googleapis.com/google.rpc.BadRequest",
              fieldViolations: [{ field, description: message }]
            }
          ]
        })
      }
    }
  })
  const refusal = (prompt: unknown, aspect: unknown) => {
    if (asksFor(prompt, "moderation")) {
      const message =
        "The prompt could not be submitted. This prompt contains words that violate the usage guidelines."
      return refused(400, "INVALID_ARGUMENT", message)
    }
    if (asksFor(prompt, "no credits")) {
      return refused(
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details."
      )
    }
    if (asksFor(prompt, "rate limit")) {
      return refused(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).")
    }
    return aspect !== undefined && !/^\d+:\d+$/.test(String(aspect))
      ? refused(400, "INVALID_ARGUMENT", "Invalid aspect ratio", "parameters.aspect_ratio")
      : undefined
  }
  const image = { mimeType: "image/png", bytesBase64Encoded: PNG.toString("base64") }
  return ({ fields, headers, method, path, query }) => {
    if (headers["x-goog-api-key"] !== "AIza-0123456789abcdef" || query.has("key")) {
      return refused(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
    }
    if (/^\/v1(?:beta)?\/files\/film\w*:download$/.test(path)) {
      return { file: { type: "video/mp4", bytes: MP4 } }
    }
    const [, model, call] = MODEL.exec(path) ?? []
    if (method === "POST" && call === "generateContent") {
      const [content] = fields["contents"] as ReadonlyArray<{ readonly parts: ReadonlyArray<Fields> }>
      const config = (fields["generationConfig"] ?? {}) as Fields
      const prompt = content?.parts.map(({ text }) => text ?? "").join("")
      const no = refusal(prompt, (config["imageConfig"] as Fields | undefined)?.["aspectRatio"])
      if (no !== undefined) return no
      const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 1290, totalTokenCount: 1299 }
      if (asksFor(prompt, "moderated task")) {
        const candidates = [{ content: { parts: [] }, finishReason: "IMAGE_SAFETY", index: 0 }]
        return { json: { candidates, usageMetadata, modelVersion: model } }
      }
      const inlineData = { mimeType: "image/png", data: PNG.toString("base64") }
      const parts = [{ text: "Here it is." }, { inlineData }]
      const candidates = [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }]
      return { json: { candidates, usageMetadata, modelVersion: model } }
    }
    if (method === "POST" && (call === "predict" || call === "predictLongRunning")) {
      const [instance] = fields["instances"] as ReadonlyArray<Fields>
      const parameters = (fields["parameters"] ?? {}) as Fields
      const no = refusal(instance?.["prompt"], parameters["aspectRatio"])
      if (no !== undefined) return no
      if (call === "predict") {
        if (asksFor(instance?.["prompt"], "moderated task")) {
          return {
            json: { predictions: [{ raiFilteredReason: "Unable to show generated images. Code 62263041" }] }
          }
        }
        const number = Number(parameters["sampleCount"] ?? 1)
        return { json: { predictions: Array.from({ length: number }, () => image) } }
      }
      const task = tasks.create({ fields: { ...instance }, path })
      return { json: { name: `models/${model}/operations/${task.id}` } }
    }
    const [, name, id] = OPERATION.exec(path) ?? []
    const task = method === "GET" ? tasks.poll(id) : undefined
    if (task === undefined) return refused(404, "NOT_FOUND", "Operation not found")
    // A running operation has no `done`.
    if (task.polls <= 2) return { json: { name } }
    const { prompt } = task.request
    const done = { name, done: true }
    if (asksFor(prompt, "failed task")) {
      return { json: { ...done, error: { code: 13, message: "Internal error", status: "INTERNAL" } } }
    }
    const type = "type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse"
    if (asksFor(prompt, "moderated task")) {
      const reasons = ["Sorry, we can't create videos with real people's names."]
      const response = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: reasons }
      return { json: { ...done, response: { "@type": type, generateVideoResponse: response } } }
    }
    const uri = `${own()}/v1beta/files/film${task.id}:download?alt=media`
    const generateVideoResponse = { generatedSamples: [{ video: { uri } }] }
    return { json: { ...done, response: { "@type": type, generateVideoResponse } } }
  }
})
