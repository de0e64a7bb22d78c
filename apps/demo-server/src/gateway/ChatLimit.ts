/** `max_completion_tokens`: what OpenAI's clients have for `max_tokens` now. Dropped silently, it would cost the caller. */
import { type ChatRequest, Failure } from "@sluice/core/contract"
import { Effect, Schema } from "effect"

export const NEW_NAME = "max_completion_tokens"

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
 * The request, in which the limit stands as the interface has it, and the body that is sent: as it came, since models that
 * think know nothing but the new name. Where both are given, and differ, the lower one stands for both in the body too:
 * whichever an upstream goes by, no more is written than was reserved.
 */
export const limited = Effect.fnUntraced(function* (request: ChatRequest, body: string) {
  // Texts may speak of it: what is parsed decides.
  if (!body.includes(NEW_NAME)) return { request, body }
  const { [NEW_NAME]: limit, ...others } = yield* Effect.mapError(
    decode(body),
    () =>
      new Failure({
        status: 400,
        message: `\`${NEW_NAME}\` is not valid: Expected a whole number from 1`,
        param: NEW_NAME,
        retryable: false
      })
  )
  if (limit === undefined || limit === null) return { request, body }
  const max_tokens = Math.min(limit, request.max_tokens ?? limit)
  const isOne = limit === (request.max_tokens ?? limit)
  return {
    request: { ...request, max_tokens },
    body: isOne ? body : JSON.stringify({ ...others, max_tokens, [NEW_NAME]: max_tokens })
  }
})
