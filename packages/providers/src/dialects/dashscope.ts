/** DashScope, Alibaba Cloud's Model Studio. */
import { DASHSCOPE_NAMES, dashscopeImages, dashscopeVideos } from "../media/dashscopeMedia.ts"
import { classify, vendorError, idAt } from "../media/MediaResponse.ts"
import type { Dialect } from "../protocol/Dialect.ts"
import { dashscopeText } from "../text/dashscopeText.ts"

/** Codes that say more than the message. */
const CODES: Readonly<Record<string, string>> = {
  DataInspectionFailed: "inappropriate content",
  Arrearage: "account in arrears"
}

export const dashscope: Dialect = {
  id: "dashscope",
  name: "DashScope",
  url: "https://dashscope-intl.aliyuncs.com",
  keyVariable: "DASHSCOPE_API_KEY",
  ...dashscopeText,
  operations: { ...dashscopeText.operations, images: dashscopeImages, videos: dashscopeVideos },
  error: (body) => {
    const message = idAt(body, "message")
    if (message === undefined) return undefined
    const code = idAt(body, "code")
    const [field] = /\b(?:parameters|input)\.\w+/.exec(message) ?? []
    return { code, ...vendorError(message, field, DASHSCOPE_NAMES), ...classify(CODES[code ?? ""] ?? "") }
  }
}
