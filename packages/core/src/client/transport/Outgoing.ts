/** What every request of the client goes through. */
import { Context, Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { IdempotencyKey } from "./Idempotency.ts"
import { BufferResponse } from "./BufferedTransport.ts"

const noSpan = Context.make(HttpClient.TracerDisabledWhen, () => true)
const noSpanAndWhole = Context.add(noSpan, BufferResponse, true)

/**
 * Its path is put after the base URL, and the key of its call is added, where that has one.
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
