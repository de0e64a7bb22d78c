/** Calls a model for a decoded request: checks the permission, chooses the provider, bills the caller. */
import { requestOrigin } from "../network/Origin.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { libraryModel } from "../libraries/LibraryChat.ts"
import { Failure, type GatewayError } from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type CallerInfo, mayUse, modelNotAllowed } from "../accounts/Caller.ts"
import { Charges } from "../billing/Charges.ts"
import { idempotencyOf } from "../billing/Idempotency.ts"
import type { Meter } from "../billing/Meter.ts"
import { yieldIfLarge } from "../http/BodyParts.ts"
import { addHeaders } from "../http/ResponseHeaders.ts"
import { CurrentRequest } from "../http/RequestRecord.ts"
import type { ProviderResponse, Operation, Operations, Provider } from "../routing/Provider.ts"
import { route } from "../routing/Providers.ts"
import { checkFieldNames } from "./FieldNames.ts"

type HttpRequest = HttpServerRequest.HttpServerRequest

/** Characters of a model identifier at most. */
const MODEL_LENGTH = 256

const modelTooLong = new Failure({
  status: 400,
  message: `\`model\` has more than ${MODEL_LENGTH} characters`,
  param: "model"
})

const toFailure = (error: GatewayError | Failure): Failure => {
  if (error._tag === "Failure") return error
  const failure = Failure.fromReason(error.reason)
  // A retry could create and charge the same thing twice.
  return error.outcomeUnknown === true
    ? new Failure({ ...failure, message: failure.message, retryable: false })
    : failure
}

export const makeModelCall = Effect.fnUntraced(function* <
  Request extends { readonly model: string },
  Response
>(
  providers: ReadonlyArray<Provider>,
  meter: Meter<Request>,
  pick: (operations: Operations) => Operation<Request, Response> | undefined,
  /** Of creations: encodes the response to store it for an `Idempotency-Key`, even if the caller has disconnected. */
  kept?: Schema.Codec<Response, unknown>
) {
  const charges = yield* Charges
  const { operation } = meter
  const encode = kept && Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(kept)))

  return (
    http: HttpRequest,
    caller: CallerInfo,
    request: Request,
    body: string
  ): Effect.Effect<ProviderResponse<Response>, Failure, HttpRequest> => {
    const { model } = request
    if (model.length > MODEL_LENGTH) return Effect.fail(modelTooLong)
    if (!mayUse(caller, model)) return Effect.fail(modelNotAllowed(model))
    const fault = checkFieldNames(body)
    if (fault !== undefined) return Effect.fail(fault)
    const call = Effect.gen(function* () {
      yield* yieldIfLarge(body)
      const operate = yield* route(
        providers,
        operation,
        pick,
        model,
        operation === "chat" ? [libraryModel(DEFAULT_COLLECTION)] : []
      )
      const record = yield* CurrentRequest
      record.now = { ...record.now, model }
      yield* Effect.annotateCurrentSpan({
        "gen_ai.operation.name": operation,
        "gen_ai.request.model": model
      })
      const key = http.headers["idempotency-key"]
      return yield* charges.run<Request, Response>({
        payer: caller,
        meter,
        request,
        body,
        idempotency: key === undefined ? undefined : yield* idempotencyOf(key, operation, body),
        call: operate({ request, body, user: caller.user, origin: requestOrigin(http) }),
        encode,
        addHeaders
      })
    })
    return Effect.mapError(call, toFailure)
  }
})
