/** Fetches an image from its link, and gives the credential to the gateway alone. */
import { Effect } from "effect"
import { type HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { ApiKey } from "../Credentials.ts"
import { type GatewayReason, InvalidRequest, NotFound } from "../GatewayError.ts"
import { exchange, type Problem } from "./Exchange.ts"

/** Storage often answers with another address once; a ring of them is cut. */
const REDIRECTS = 5

interface Here {
  readonly client: HttpClient.HttpClient
  readonly baseUrl: string
  readonly apiKey: ApiKey
}

const isRedirect = ({ headers, status }: HttpClientResponse.HttpClientResponse) =>
  [301, 302, 303, 307, 308].includes(status) && headers["location"] !== undefined

/** The bytes behind a link. A link that has ended is `NotFound`, however its host says so. */
export const fetchImage = (here: Here, link: string) => {
  const url = URL.parse(link)
  if (url === null || !isWeb(url)) {
    return Effect.fail<Problem>({
      reason: new InvalidRequest({ message: "The image's link is no http or https address.", param: "url" }),
      requestId: undefined
    })
  }
  const isOwn = (url: URL) => url.origin === new URL(here.baseUrl).origin
  const send = (url: URL, hops: number): ReturnType<typeof here.client.execute> => {
    const request = HttpClientRequest.get(url)
    const signed = isOwn(url) ? HttpClientRequest.bearerToken(request, here.apiKey) : request
    return Effect.flatMap(here.client.execute(signed), (response) => {
      const next = isRedirect(response) ? URL.parse(response.headers["location"] ?? "", url.href) : null
      if (next === null || !isWeb(next) || hops === 0) return Effect.succeed(response)
      return Effect.andThen(Effect.ignore(response.arrayBuffer), send(next, hops - 1))
    })
  }
  return exchange(send(url, REDIRECTS), (response) =>
    Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))
  ).pipe(
    Effect.mapError(({ reason, ...rest }): Problem => ({
      ...rest,
      reason: isOwn(url) ? reason : ended(url, reason)
    }))
  )
}

const isWeb = (url: URL) => url.protocol === "https:" || url.protocol === "http:"

/** To a host that was shown no credential, being refused means that the link is no longer good. */
const ended = (url: URL, reason: GatewayReason): GatewayReason => {
  if (reason._tag !== "Unauthorized" && reason._tag !== "Forbidden" && reason._tag !== "NotFound")
    return reason
  const message = `${url.host} no longer gives the image out: links end, those of group I4 after 24 hours.`
  return new NotFound({ message })
}
