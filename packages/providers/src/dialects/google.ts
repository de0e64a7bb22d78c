/** Google's Gemini API. */
import { googleImages, googleVideos } from "../media/googleMedia.ts"
import { vendorError, idAt, textsAt } from "../media/MediaResponse.ts"
import type { Dialect } from "../protocol/Dialect.ts"
import { googleText } from "../text/googleText.ts"
import { jsonAt } from "../protocol/JsonValues.ts"

export const google = {
  id: "google",
  name: "Google",
  url: "https://generativelanguage.googleapis.com",
  keyVariable: "GEMINI_API_KEY",
  sign: (key) => ({ "x-goog-api-key": key }),
  ...googleText,
  operations: { ...googleText.operations, images: googleImages, videos: googleVideos },
  error: (body, status) => {
    const error = jsonAt(body, "error") ?? jsonAt(body, "0", "error")
    const message = idAt(error, "message")
    if (message === undefined) return undefined
    // The message of a limit per minute is that of a used-up quota.
    const [delay] = textsAt(error, "details.retryDelay")
    const isOfDay = textsAt(error, "details.violations.quotaId").some((id) => id.includes("PerDay"))
    if (status === 429 && delay !== undefined && !isOfDay) {
      return { message, retryAfterSeconds: Number.parseFloat(delay) }
    }
    const [field] = textsAt(error, "details.fieldViolations.field")
    // An invalid key is a 400.
    const isKey = /API key (?:not valid|expired)/i.test(message)
    return isKey ? { message, status: 401 } : vendorError(message, field?.split(".").at(-1))
  },
  fieldNames: {
    aspect_ratio: "size",
    aspectRatio: "size",
    sampleCount: "n",
    sample_count: "n",
    durationSeconds: "seconds",
    duration_seconds: "seconds"
  }
} as const satisfies Dialect
