/** One key for all attempts of one creation, so that a gateway that knows it makes the thing once. */
import { Context, Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ReadWhole } from "./Whole.ts"

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
const noSpanAndWhole = Context.add(noSpan, ReadWhole, true)

/**
 * What every request goes through: its path put after the base URL, and the key of its call, where that has one.
 *
 * **Details.** No span for each request: such a span holds requests and answers whole, texts and echoed credentials
 * among them. The call's own span says what there is to say. Answers come `whole` where nobody reads them as a stream:
 * most of them, and for a third of the time.
 */
export const outgoing = (
  client: HttpClient.HttpClient,
  baseUrl: string,
  answers: "streamed" | "whole" = "streamed"
): HttpClient.HttpClient => {
  const context = answers === "whole" ? noSpanAndWhole : noSpan
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
