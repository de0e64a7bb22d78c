/** Google's Gemini API. */
import { googleImages, googleVideos } from "../media/googleMedia.ts"
import { vendorError, idAt } from "../media/MediaResponse.ts"
import type { Dialect } from "../protocol/Dialect.ts"
import { googleText } from "../text/googleText.ts"
import { itemsAt, jsonAt } from "../protocol/JsonValues.ts"

export const google = {
  id: "google",
  name: "Google",
  url: "https://generativelanguage.googleapis.com",
  keyVariable: "GEMINI_API_KEY",
  sign: (key) => ({ "x-goog-api-key": key }),
  ...googleText,
  operations: { ...googleText.operations, images: googleImages, videos: googleVideos },
  error: (body) => {
    const error = jsonAt(body, "error") ?? jsonAt(body, "0", "error")
    const message = idAt(error, "message")
    if (message === undefined) return undefined
    const field = itemsAt(error, "details")
      .map((detail) => idAt(detail, "fieldViolations", "0", "field"))
      .find((path) => path !== undefined)
      ?.split(".")
      .at(-1)
    // An invalid key is a 400.
    const isKey = /API key not valid/i.test(message)
    return { ...vendorError(message, field), ...(isKey && { status: 401 }) }
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
