/** Redirects of downloads, which may lead to a storage host. The credential is sent only to the gateway. */
import { Effect } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { InvalidResponse, NotFound } from "../../contract/GatewayError.ts"
import type { AttemptFailure, CallResult } from "./CallResult.ts"
import { beginningOf } from "./Refusal.ts"

const MAX_REDIRECTS = 5

type Response = HttpClientResponse.HttpClientResponse

export const isHttp = (url: URL) => url.protocol === "https:" || url.protocol === "http:"

/** The target of a redirect; undefined for other responses and for targets that are not http or https. */
const redirectTarget = ({ headers, request, status }: Response): URL | undefined => {
  const { location } = headers
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined
  const url = URL.parse(location, request.url)
  return url !== null && isHttp(url) ? url : undefined
}

/**
 * A client whose GET requests follow up to five redirects.
 *
 * **Details.** The credential is sent within the origin of `baseUrl`, and never again after a redirect to another one.
 */
export const withRedirects = (client: HttpClient.HttpClient, baseUrl: string): HttpClient.HttpClient => {
  const home = new URL(baseUrl).origin
  const follow = (response: Response, left: number): ReturnType<typeof client.execute> => {
    const url = left === 0 ? undefined : redirectTarget(response)
    if (url === undefined) return Effect.succeed(response)
    const { accept, authorization } = response.request.headers
    const next = HttpClientRequest.get(url).pipe(
      HttpClientRequest.setHeaders({
        ...(accept !== undefined && { accept }),
        ...(authorization !== undefined && url.origin === home && { authorization })
      })
    )
    return beginningOf(response).pipe(
      Effect.andThen(client.execute(next)),
      Effect.flatMap((answer) => follow(answer, left - 1))
    )
  }
  return HttpClient.transform(
    client,
    Effect.flatMap((response) => follow(response, MAX_REDIRECTS))
  )
}

/** Some storage hosts send 400 for an expired link. */
const EXPIRED: ReadonlySet<string> = new Set(["InvalidRequest", "Unauthorized", "Forbidden", "NotFound"])

/**
 * An attempt at a download, with errors that name the last host.
 *
 * **Details.** A refusal by another host than the gateway, which got no credential, means that the link has expired:
 * `NotFound`, whatever the status. `what` and `lifetime` are used in that message.
 */
export const withDownloadErrors = <A, E, R>(
  download: { readonly baseUrl: string; readonly what: string; readonly lifetime: string },
  send: Effect.Effect<Response, E, R>,
  attempt: (send: Effect.Effect<Response, E, R>) => Effect.Effect<CallResult<A>, AttemptFailure, R>
): Effect.Effect<CallResult<A>, AttemptFailure, R> =>
  Effect.suspend(() => {
    const home = new URL(download.baseUrl).origin
    let last = home
    let isRedirect = false
    const observed = Effect.tap(send, ({ request, status }) =>
      Effect.sync(() => {
        last = URL.parse(request.url)?.origin ?? home
        isRedirect = status >= 300 && status < 400
      })
    )
    return Effect.mapError(attempt(observed), (failure): AttemptFailure => {
      const { host } = new URL(last)
      if (isRedirect) {
        const message = `${host} redirects more than ${MAX_REDIRECTS} times, or to an address that is not http or https.`
        return { ...failure, reason: new InvalidResponse({ message }) }
      }
      if (last === home || !EXPIRED.has(failure.reason._tag)) return failure
      const message = `${host} no longer provides ${download.what}: ${download.lifetime}.`
      return { ...failure, reason: new NotFound({ message }) }
    })
  })
