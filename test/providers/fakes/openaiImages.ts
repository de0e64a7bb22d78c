/** OpenAI's images: `generations`, and `edits` as a form. Decoded by `openai`. */
import { asksFor, type Fields, PNG, startMediaVendor } from "./MediaVendor.ts"

const SIZES = new Set([undefined, null, "auto", "1024x1024", "1536x1024", "1024x1536"])

export const startOpenAiImages = startMediaVendor(() => {
  const refused = (status: number, message: string, code: string | null, param: string | null = null) => ({
    status,
    json: { error: { message, type: "invalid_request_error", param, code } }
  })
  const answer = ({ n, prompt, size }: Fields, images: number) => {
    if (asksFor(prompt, "moderation")) {
      return refused(400, "Your request was rejected by the safety system.", "moderation_blocked")
    }
    if (asksFor(prompt, "no credits")) {
      return refused(429, "You exceeded your current quota, please check your plan.", "insufficient_quota")
    }
    if (asksFor(prompt, "rate limit")) {
      return { ...refused(429, "Rate limit reached", "rate_limit_exceeded"), headers: { "retry-after": "7" } }
    }
    if (!SIZES.has(size as string)) return refused(400, "Invalid size", "invalid_value", "size")
    const details = { text_tokens: 9, image_tokens: 323 * images }
    return {
      json: {
        created: 1763632800,
        data: Array.from({ length: Number(n ?? 1) }, () => ({ b64_json: PNG.toString("base64") })),
        background: "opaque",
        output_format: "png",
        quality: "high",
        size: "1024x1024",
        usage: {
          total_tokens: 9 + 323 * images + 1056,
          input_tokens: 9 + 323 * images,
          output_tokens: 1056,
          input_tokens_details: details
        }
      }
    }
  }
  return async ({ bytes, fields, headers, method, path }) => {
    if (headers.authorization !== "Bearer sk-openai-0123456789abc") {
      return refused(401, "Incorrect API key provided", "invalid_api_key")
    }
    if (method === "POST" && path === "/v1/images/generations") {
      const unknown = ["image", "input_fidelity"].find((name) => name in fields)
      if (unknown !== undefined)
        return refused(400, `Unknown parameter: '${unknown}'.`, "unknown_parameter", unknown)
      return answer(fields, 0)
    }
    if (method === "POST" && path === "/v1/images/edits") {
      const type = headers["content-type"] ?? ""
      if (!type.startsWith("multipart/form-data"))
        return refused(400, "Unsupported content type", "unsupported_content_type")
      const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData()
      const images = [...form.getAll("image"), ...form.getAll("image[]")]
      for (const image of images) {
        const isPng = image instanceof File && Buffer.from(await image.arrayBuffer()).equals(PNG)
        if (!isPng || image.type !== "image/png")
          return refused(400, "Invalid image file", "invalid_image_file", "image")
      }
      if (images.length === 0)
        return refused(400, "Missing required parameter: 'image'.", "missing_required_parameter", "image")
      const plain = [...form].filter(([, value]) => typeof value === "string")
      return answer(Object.fromEntries(plain), images.length)
    }
    return refused(404, "Invalid URL", null)
  }
})
