/** `max_completion_tokens`, the new name of `max_tokens` in OpenAI's clients. Ignoring it would cost the caller. */
import { type ChatRequest, Failure } from "@sluice/core/contract"
import { Effect, Schema } from "effect"

export const NEW_LIMIT_NAME = "max_completion_tokens"

const decode = Schema.decodeUnknownEffect(
  Schema.fromJsonString(
    Schema.StructWithRest(
      Schema.Struct({
        max_completion_tokens: Schema.optionalKey(
          Schema.NullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
        )
      }),
      [Schema.Record(Schema.String, Schema.Json)]
    )
  )
)

/**
 * The request with the limit under the interface's name, and the body to send. The body is not changed, since
 * reasoning models know only the new name. If both names are given and differ, the lower limit is sent for both, so
 * that no upstream writes more than was reserved.
 */
export const applyTokenLimit = Effect.fnUntraced(function* (request: ChatRequest, body: string) {
  // Texts may mention the name: the parsed body decides.
  if (!body.includes(NEW_LIMIT_NAME)) return { request, body }
  const { [NEW_LIMIT_NAME]: limit, ...others } = yield* Effect.mapError(
    decode(body),
    () =>
      new Failure({
        status: 400,
        message: `\`${NEW_LIMIT_NAME}\` is not valid: Expected a whole number from 1`,
        param: NEW_LIMIT_NAME
      })
  )
  if (limit === undefined || limit === null) return { request, body }
  const max_tokens = Math.min(limit, request.max_tokens ?? limit)
  const isOne = limit === (request.max_tokens ?? limit)
  return {
    request: { ...request, max_tokens },
    body: isOne ? body : JSON.stringify({ ...others, max_tokens, [NEW_LIMIT_NAME]: max_tokens })
  }
})
