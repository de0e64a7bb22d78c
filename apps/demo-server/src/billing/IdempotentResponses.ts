/** Stores responses for callers who repeat a call under its `Idempotency-Key`. */
import { Effect, Exit, Stream } from "effect"
import { HttpBody, HttpEffect, HttpServerResponse } from "effect/http"
import type { ProviderAnswer } from "../routing/Provider.ts"
import { LARGEST_ANSWER, type Replay } from "./Idempotency.ts"
import type { Charge } from "./Reservation.ts"

/** `isOver`: the server is stopping, and a stream that ends then is cut. It is not stored. */
export const idempotentResponses = (
  remember: (charge: Charge, replay: Replay) => Effect.Effect<void>,
  isOver: () => boolean
) => {
  const keep = (charge: Charge, contentType: string, bytes: Uint8Array) =>
    bytes.length > LARGEST_ANSWER
      ? Effect.void
      : remember(charge, { contentType, answer: Buffer.from(bytes).toString() })

  /** Stores the response of a call that creates something at once: it is paid for even if the caller has gone. */
  const keepCreated = <Response>(
    charge: Charge,
    answer: ProviderAnswer<Response>,
    encode: ((answer: Response) => string) | undefined
  ) => {
    if (HttpServerResponse.isHttpServerResponse(answer)) {
      const { body } = answer
      return body._tag === "Uint8Array" ? keep(charge, body.contentType, body.body) : Effect.void
    }
    return encode ? keep(charge, "application/json", Buffer.from(encode(answer))) : Effect.void
  }

  /** Stores any other response as it is sent, unless its stream breaks. */
  const keepSent = (charge: Charge, broke: () => boolean) =>
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
            if (size <= LARGEST_ANSWER) chunks.push(chunk)
          })
        ),
        Stream.onExit((exit) =>
          Exit.isSuccess(exit) && size <= LARGEST_ANSWER && !isOver() && !broke()
            ? keep(charge, body.contentType, Buffer.concat(chunks))
            : Effect.void
        )
      )
      return Effect.succeed(HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType)))
    })

  return { keepCreated, keepSent }
}

export type IdempotentResponses = ReturnType<typeof idempotentResponses>
