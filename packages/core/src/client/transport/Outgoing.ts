/** Prepares every request of the client: its address, its idempotency key and its tracing. */
import { Context, Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { BufferResponse } from "./BufferedTransport.ts"

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

const noSpan = Context.make(HttpClient.TracerDisabledWhen, () => true)
const noSpanAndWhole = Context.add(noSpan, BufferResponse, true)

/**
 * Puts the base URL before the path and adds the call's idempotency key, if it has one.
 *
 * **Details.** Requests have no span of their own: it would hold whole requests and responses, with texts and echoed
 * credentials. The call has one span instead. `whole` responses are buffered, which takes a third of the time of a stream.
 */
export const withBaseUrl = (
  client: HttpClient.HttpClient,
  baseUrl: string,
  mode: "streamed" | "buffered" = "streamed"
): HttpClient.HttpClient => {
  const context = mode === "buffered" ? noSpanAndWhole : noSpan
  return client.pipe(
    HttpClient.mapRequestEffect((request) =>
      Effect.map(IdempotencyKey, (key) => {
        const addressed = HttpClientRequest.prependUrl(request, baseUrl)
        return key === undefined ? addressed : HttpClientRequest.setHeader(addressed, "idempotency-key", key)
      })
    ),
    HttpClient.transform((response) => Effect.provideContext(response, context))
  )
}
