/** `max_completion_tokens`: what OpenAI's clients have for `max_tokens` now. Dropped silently, it would cost the caller. */
import { type ChatRequest, Failure } from "@sluice/core"
import { Effect, Schema } from "effect"

const NAME = "max_completion_tokens"

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

/** The request and its body, in which the limit stands as the interface has it; the lower one where both are given. */
export const limited = Effect.fnUntraced(function* (request: ChatRequest, body: string) {
  // Texts may speak of it: what is parsed decides.
  if (!body.includes(NAME)) return { request, body }
  const { [NAME]: limit, ...others } = yield* Effect.mapError(
    decode(body),
    () =>
      new Failure({
        status: 400,
        message: `\`${NAME}\` is not valid: Expected a whole number from 1`,
        param: NAME,
        retryable: false
      })
  )
  if (limit === undefined || limit === null) return { request, body }
  const max_tokens = Math.min(limit, request.max_tokens ?? limit)
  return { request: { ...request, max_tokens }, body: JSON.stringify({ ...others, max_tokens }) }
})
