/** Anthropic's Messages. */
import type { Dialect } from "../protocol/Dialect.ts"
import { textAt } from "../protocol/JsonValues.ts"
import { messagesRequest } from "../text/anthropicRequest.ts"
import { messageEvents, messageResponse } from "../text/anthropicResponse.ts"

/** The version of the protocol that this dialect speaks: the latest of its documentation, as the vendor's SDK 1.12 sends it. */
const VERSION = "2026-10-21"

export const anthropic = {
  id: "anthropic",
  name: "Anthropic",
  url: "https://api.anthropic.com",
  keyVariable: "ANTHROPIC_API_KEY",
  sign: (key) => ({ authorization: `Bearer ${key}`, "anthropic-version": VERSION }),
  list: { path: "/v1/models?limit=1000" },
  operations: {
    chat: {
      path: "/v1/messages",
      request: messagesRequest,
      response: messageResponse,
      events: messageEvents
    }
  },
  error: (body) => {
    const message = textAt(body, "error", "message")
    if (message === undefined) return undefined
    // An account without credit is a 400.
    return /credit balance is too low/i.test(message)
      ? { message, code: "insufficient_quota", status: 402 }
      : { message, code: textAt(body, "error", "type") }
  }
} as const satisfies Dialect
