/** SiliconFlow. */
import { vendorError, fieldAt, idAt } from "../media/MediaErrors.ts"
import { SILICONFLOW_NAMES, siliconflowImages, siliconflowVideos } from "../media/siliconflowMedia.ts"
import type { Dialect } from "../protocol/Dialect.ts"

export const siliconflow: Dialect = {
  id: "siliconflow",
  name: "SiliconFlow",
  url: "https://api.siliconflow.com/v1",
  keyVariable: "SILICONFLOW_API_KEY",
  operations: { images: siliconflowImages, videos: siliconflowVideos },
  error: (body) => {
    const message = idAt(body, "message")
    if (message === undefined) return undefined
    const [, field] = /\b(\w+): /.exec(message) ?? []
    const isField = fieldAt(body, "code") === 20015
    return vendorError(message, isField ? field : undefined, SILICONFLOW_NAMES)
  }
}
