/** One key for all attempts of one creation, so that a gateway that knows it makes the thing once. */
import { Context, Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"

/** The `Idempotency-Key` of the call under way; undefined outside a creation, unless the program set one. */
export const IdempotencyKey = Context.Reference<string | undefined>("@sluice/core/IdempotencyKey", {
  defaultValue: () => undefined
})

/**
 * Gives the creations of an effect this key instead of a random one.
 *
 * **When to use.** To make the same creation again after a crash, with a key that was written down before it.
 *
 * **Gotchas.** All creations within share the key: wrap one. The interface knows no such header; a gateway that does
 * not honour it ignores it.
 */
export const withIdempotencyKey =
  (key: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(self, IdempotencyKey, key)

/**
 * What every request goes through: its path put after the base URL, and the key of its call, where that has one.
 *
 * **Details.** No span for each request: such a span holds requests and answers whole, texts and echoed credentials
 * among them. The call's own span says what there is to say.
 */
export const outgoing = (client: HttpClient.HttpClient, baseUrl: string): HttpClient.HttpClient =>
  client.pipe(
    HttpClient.mapRequestEffect((request) =>
      Effect.map(IdempotencyKey, (key) => {
        const addressed = HttpClientRequest.prependUrl(request, baseUrl)
        return key === undefined ? addressed : HttpClientRequest.setHeader(addressed, "idempotency-key", key)
      })
    ),
    HttpClient.transform((response) =>
      Effect.provideService(response, HttpClient.TracerDisabledWhen, () => true)
    )
  )
