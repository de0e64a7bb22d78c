/** Redirects of downloads: storage is often elsewhere, and the credential is the gateway's alone. */
import { Effect, Stream } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { InvalidResponse, NotFound } from "../../contract/GatewayError.ts"
import type { CallResult, Problem } from "./Answer.ts"

/** Storage often answers with another address once; a ring of them is cut. */
const REDIRECTS = 5
/** Of what a redirect says besides where it leads. */
const BODY_BYTES = 64 * 1024

type Response = HttpClientResponse.HttpClientResponse

export const isWeb = (url: URL) => url.protocol === "https:" || url.protocol === "http:"

/** Where a response leads; undefined where it does not, or to another scheme. */
const nextOf = ({ headers, request, status }: Response): URL | undefined => {
  const { location } = headers
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined
  const url = URL.parse(location, request.url)
  return url !== null && isWeb(url) ? url : undefined
}

/** Read to its end, as a rule: its connection then serves again. */
const discard = ({ stream }: Response): Effect.Effect<void> => {
  let room = BODY_BYTES
  return stream.pipe(
    Stream.takeUntil(({ length }) => (room -= length) <= 0),
    Stream.runDrain,
    Effect.ignore
  )
}

/**
 * A client whose GETs go on where they are sent to, five times at most.
 *
 * **Details.** The credential goes along within the origin of `baseUrl`; a request that has left it carries none any
 * more, wherever it is sent from there.
 */
export const withRedirects = (client: HttpClient.HttpClient, baseUrl: string): HttpClient.HttpClient => {
  const home = new URL(baseUrl).origin
  const follow = (response: Response, left: number): ReturnType<typeof client.execute> => {
    const url = left === 0 ? undefined : nextOf(response)
    if (url === undefined) return Effect.succeed(response)
    const { accept, authorization } = response.request.headers
    const next = HttpClientRequest.get(url).pipe(
      HttpClientRequest.setHeaders({
        ...(accept !== undefined && { accept }),
        ...(authorization !== undefined && url.origin === home && { authorization })
      })
    )
    return discard(response).pipe(
      Effect.andThen(client.execute(next)),
      Effect.flatMap((answer) => follow(answer, left - 1))
    )
  }
  return HttpClient.transform(
    client,
    Effect.flatMap((response) => follow(response, REDIRECTS))
  )
}

/**
 * An attempt at a download, told by the host that answered last.
 *
 * **Details.** To another host than the gateway, which was shown no credential, being refused means that the link is no
 * longer good: `NotFound`, however it says so.
 */
export const fetching = <A, E, R>(
  { baseUrl, what }: { readonly baseUrl: string; readonly what: string },
  send: Effect.Effect<Response, E, R>,
  read: (send: Effect.Effect<Response, E, R>) => Effect.Effect<CallResult<A>, Problem, R>
): Effect.Effect<CallResult<A>, Problem, R> =>
  Effect.suspend(() => {
    const home = new URL(baseUrl).origin
    let last = home
    let leadsOn = false
    const watched = Effect.tap(send, ({ request, status }) =>
      Effect.sync(() => {
        last = URL.parse(request.url)?.origin ?? home
        leadsOn = status >= 300 && status < 400
      })
    )
    return Effect.mapError(read(watched), (problem): Problem => {
      if (leadsOn) {
        const message = `${new URL(last).host} leads on, after ${REDIRECTS} redirects or to no http or https address.`
        return { ...problem, reason: new InvalidResponse({ message }) }
      }
      if (last === home || !ENDED.has(problem.reason._tag)) return problem
      const message = `${new URL(last).host} no longer gives ${what}.`
      return { ...problem, reason: new NotFound({ message }) }
    })
  })

/** Some storages say 400 of a link that has ended. */
const ENDED: ReadonlySet<string> = new Set(["InvalidRequest", "Unauthorized", "Forbidden", "NotFound"])
