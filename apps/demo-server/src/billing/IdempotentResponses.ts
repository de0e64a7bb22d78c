/** Stores responses for callers who repeat a call under its `Idempotency-Key`. */
import { Effect, Exit, Stream } from "effect"
import { HttpBody, HttpEffect, HttpServerResponse } from "effect/http"
import type { ProviderResponse } from "../routing/Provider.ts"
import { MAX_RESPONSE, type Replay } from "./Idempotency.ts"
import type { Charge } from "./Reservation.ts"

/** `isOver`: whether the server cuts streams because it stops. Cut streams are not stored. */
export const idempotentResponses = (
  storeResponse: (charge: Charge, replay: Replay) => Effect.Effect<void>,
  isOver: () => boolean
) => {
  const keep = (charge: Charge, contentType: string, bytes: Uint8Array) =>
    bytes.length > MAX_RESPONSE
      ? Effect.void
      : storeResponse(charge, { contentType, answer: Buffer.from(bytes).toString() })

  /** Stores the response of a creation before it is sent, because it is charged even if the caller has disconnected. */
  const keepCreated = <Response>(
    charge: Charge,
    answer: ProviderResponse<Response>,
    encode: ((answer: Response) => string) | undefined
  ) => {
    if (HttpServerResponse.isHttpServerResponse(answer)) {
      const { body } = answer
      return body._tag === "Uint8Array" ? keep(charge, body.contentType, body.body) : Effect.void
    }
    return encode ? keep(charge, "application/json", Buffer.from(encode(answer))) : Effect.void
  }

  /** Stores any other response as it is sent, unless its stream is cut or has an error. */
  const keepSent = (charge: Charge, hasError: () => boolean) =>
    HttpEffect.appendPreResponseHandler((_request, response) => {
      const { body } = response
      if (response.status !== 200) return Effect.succeed(response)
      if (body._tag === "Uint8Array") {
        return Effect.as(keep(charge, body.contentType, body.body), response)
      }
      if (body._tag !== "Stream") return Effect.succeed(response)
      const chunks: Array<Uint8Array> = []
      let size = 0
      const stream = body.stream.pipe(
        Stream.tap((chunk) =>
          Effect.sync(() => {
            size += chunk.length
            if (size <= MAX_RESPONSE) chunks.push(chunk)
          })
        ),
        Stream.onExit((exit) =>
          Exit.isSuccess(exit) && size <= MAX_RESPONSE && !isOver() && !hasError()
            ? keep(charge, body.contentType, Buffer.concat(chunks))
            : Effect.void
        )
      )
      return Effect.succeed(HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType)))
    })

  return { keepCreated, keepSent }
}

export type IdempotentResponses = ReturnType<typeof idempotentResponses>
