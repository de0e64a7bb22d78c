/** What the handlers of the model endpoints have in common: find who serves the model, call it, translate its error. */
import { Failure, Principal } from "@sluice/core/contract"
import type { GatewayError } from "@sluice/core"
import { Effect, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { CurrentCaller, mayUse, modelNotAllowed } from "../accounts/Caller.ts"
import { Charges } from "../billing/Charges.ts"
import { idempotencyOf } from "../billing/Idempotency.ts"
import type { Meter } from "../billing/Meter.ts"
import { noteRequest } from "../http/RequestRecord.ts"
import type { Operation, Operations, Provider } from "../routing/Provider.ts"
import { route } from "../routing/Providers.ts"
import { misnamed } from "./FieldNames.ts"
import { originOf } from "./origin.ts"

/** Characters of a model identifier at most. */
const MODEL_LENGTH = 256

/** Serves a call by whichever provider has its model, and has it paid for; `given` is the body where it did not come as JSON. */
export const serve = Effect.fnUntraced(function* <Request extends { readonly model: string }, Response>(
  providers: ReadonlyArray<Provider>,
  meter: Meter<Request>,
  pick: (operations: Operations) => Operation<Request, Response> | undefined,
  /** Of what is kept for an `Idempotency-Key`, whether or not its caller hears it. */
  answers?: Schema.Codec<Response, unknown>
) {
  const charges = yield* Charges
  const { operation } = meter
  const encode = answers && Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(answers)))
  return Effect.fn(`gateway.${operation}`)(function* (request: Request, given?: string) {
    if (request.model.length > MODEL_LENGTH) {
      return yield* new Failure({
        status: 400,
        message: `\`model\` has more than ${MODEL_LENGTH} characters`,
        param: "model",
        retryable: false
      })
    }
    if (!mayUse(yield* CurrentCaller, request.model)) return yield* modelNotAllowed(request.model)
    const http = yield* HttpServerRequest.HttpServerRequest
    // Read already to decode the request: this is the same text, not a second reading.
    const body = given ?? (yield* Effect.orDie(http.text))
    const fault = misnamed(body)
    if (fault !== undefined) return yield* fault
    const payer = yield* Principal
    const origin = yield* originOf
    const operate = yield* Effect.mapError(route(providers, operation, pick, request.model), toFailure)
    yield* noteRequest({ model: request.model })
    const idempotency = yield* idempotencyOf(http.headers["idempotency-key"], operation, body)
    const call = operate({ request, body, user: payer.user, origin })
    return yield* Effect.mapError(
      charges.around({ payer, meter, request, body, idempotency, call, encode }),
      toFailure
    )
  })
})

const toFailure = (error: GatewayError | Failure): Failure => {
  if (error._tag === "Failure") return error
  const failure = Failure.fromReason(error.reason)
  // Clients repeat what they are told to, and what may have been made would be paid for twice.
  return error.inDoubt === true
    ? new Failure({ ...failure, message: failure.message, retryable: false })
    : failure
}
