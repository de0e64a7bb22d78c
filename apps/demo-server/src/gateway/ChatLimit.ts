/** `max_completion_tokens`, the new name of `max_tokens` in OpenAI's clients. */
import { type ChatRequest, Failure } from "@sluice/core/contract"
import { Effect } from "effect"

export const NEW_LIMIT_NAME = "max_completion_tokens"

const invalidLimit = new Failure({
  status: 400,
  message: `\`${NEW_LIMIT_NAME}\` must be a whole number from 1`,
  param: NEW_LIMIT_NAME
})

/**
 * Sets `max_tokens` of the request. The body is passed on unchanged, because reasoning models know only the new name. If
 * both are given and differ, the body gets the lower limit for both, so that no upstream exceeds the reserve.
 */
export const applyTokenLimit = Effect.fnUntraced(function* (request: ChatRequest, body: string) {
  // A text may mention the name, so the parsed body decides.
  if (!body.includes(NEW_LIMIT_NAME)) return { request, body }
  const { [NEW_LIMIT_NAME]: limit, ...others } = JSON.parse(body) as Readonly<Record<string, unknown>>
  if (limit === undefined || limit === null) return { request, body }
  if (typeof limit !== "number" || !Number.isSafeInteger(limit) || limit < 1) return yield* invalidLimit
  const max_tokens = Math.min(limit, request.max_tokens ?? limit)
  const isConsistent = limit === (request.max_tokens ?? limit)
  return {
    request: { ...request, max_tokens },
    body: isConsistent ? body : JSON.stringify({ ...others, max_tokens, [NEW_LIMIT_NAME]: max_tokens })
  }
})
