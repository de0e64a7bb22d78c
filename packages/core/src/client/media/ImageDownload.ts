/** Fetches an image from its link, and gives the credential to the gateway alone. */
import { Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { ApiKey } from "../../contract/Credentials.ts"
import { InvalidRequest } from "../../contract/GatewayError.ts"
import { exchange, type Problem } from "../transport/Exchange.ts"
import { fetching, isWeb, withRedirects } from "../transport/Redirects.ts"

interface Here {
  readonly client: HttpClient.HttpClient
  readonly baseUrl: string
  readonly apiKey: ApiKey
}

const what = "the image out: links end, those of group I4 after 24 hours"

/** The bytes behind a link. A link that has ended is `NotFound`, however its host says so. */
export const fetchImage = ({ apiKey, baseUrl, client }: Here, link: string) => {
  const url = URL.parse(link)
  if (url === null || !isWeb(url)) {
    return Effect.fail<Problem>({
      reason: new InvalidRequest({ message: "The image's link is no http or https address.", param: "url" }),
      requestId: undefined
    })
  }
  const request = HttpClientRequest.get(url)
  const isOwn = url.origin === new URL(baseUrl).origin
  const signed = isOwn ? HttpClientRequest.bearerToken(request, apiKey) : request
  // Whoever has the link has the image: no span shows it.
  const answer = Effect.provideService(
    withRedirects(client, baseUrl).execute(signed),
    HttpClient.TracerDisabledWhen,
    () => true
  )
  return fetching({ baseUrl, what }, answer, (send) =>
    exchange(
      send,
      (response) => Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer)),
      baseUrl
    )
  )
}
