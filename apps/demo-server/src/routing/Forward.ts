/** One request to a gateway behind this one, one attempt, and its answer as it is. */
import {
  type ApiKey,
  type GatewayError,
  type GatewayReason,
  InvalidRequest,
  InvalidResponse,
  RETRY_NEVER,
  ServerFailure
} from "@sluice/core"
import {
  type About,
  type Answer,
  DirectTransport,
  DownloadTransport,
  exchange,
  makeCaller,
  posted,
  type Problem,
  reasonTold,
  requestIdOf,
  type Rest,
  type Usual
} from "@sluice/core/client"
import { type Context, Duration, Effect, Option, Redacted } from "effect"
import { HttpClient, HttpClientRequest, type HttpServerResponse } from "effect/http"
import { concealOf } from "./RedactCredential.ts"
import type { Outcome } from "./Provider.ts"
import { type Names, type NoAnswer, passFile, passJson, passOn, type Read } from "./UpstreamAnswer.ts"
import { blameUs } from "./UpstreamFaults.ts"

type Response = HttpServerResponse.HttpServerResponse

const SUCCESS = 200

/** A call as it is sent. */
export interface Sent {
  readonly about: About
  readonly body: string
  readonly names: Names
  readonly limit: Duration.Duration | undefined
}

/** How a gateway is asked. */
export interface Gateway {
  readonly apiKey: ApiKey
  /** Of models that are not declared: until the whole answer, or the head of a stream. */
  readonly timeout: Duration.Duration
  /** Between two events of a stream. */
  readonly idle: Duration.Duration
  /** What the messages call these settings. */
  readonly names: { readonly url: string; readonly apiKey: string }
}

/** One request to the gateway, one attempt, and its answer as it is; `read` says what answers there are. */
export const makeForward = Effect.fnUntraced(function* ({ apiKey, idle, names, timeout }: Gateway) {
  const small = yield* HttpClient.HttpClient
  const large = yield* DownloadTransport
  // Of the two limits that there are, that of an attempt is the one that is meant.
  const callerOf = (attemptTimeout: Duration.Duration) =>
    makeCaller({ retry: RETRY_NEVER, attemptTimeout, callTimeout: Duration.times(attemptTimeout, 2) }, apiKey)
  const callers = new Map([[Duration.toMillis(timeout), callerOf(timeout)]])
  const callerWithin = (limit: Duration.Duration) => {
    const known = callers.get(Duration.toMillis(limit)) ?? callerOf(limit)
    callers.set(Duration.toMillis(limit), known)
    return known
  }
  const blame = Effect.mapError(blameUs(names))
  const conceal = concealOf(Redacted.value(apiKey))
  const faultOf = ({ contentType, error }: NoAnswer): GatewayReason => {
    if (error === "nothing") {
      const message = "The gateway answered with status 200 and without anything of what was asked for"
      return new ServerFailure({ message, status: SUCCESS })
    }
    if (!error) {
      const what = `${contentType || "no content-type"} that is no JSON object: check ${names.url}`
      return new InvalidResponse({ message: `The gateway answered with ${what}` })
    }
    const reason = reasonTold(error)
    if (reason._tag !== "ServerFailure") return reason
    const { code, param } = error
    // A field that is named is the caller's.
    if (param !== undefined) return new InvalidRequest({ message: reason.message, param, code })
    const message = `The gateway answered with status 200 and an error: ${reason.message}`
    // Whose fault it is, nothing says: the status is all there is.
    return code === undefined
      ? new ServerFailure({ message, status: SUCCESS, final: true })
      : new InvalidResponse({ message })
  }
  const failed = (answer: NoAnswer, requestId: string | undefined): Problem => {
    const reason = faultOf(answer)
    return { reason, requestId, unmade: reason._tag === "RateLimited" }
  }
  const checked = (attempt: Effect.Effect<Answer<Response | NoAnswer>, Problem>) =>
    Effect.flatMap(attempt, ({ value, requestId }) =>
      "error" in value
        ? Effect.fail(failed(value, requestId))
        : Effect.succeed<Answer<Response>>({ value, requestId })
    )
  const valueOf = ({ value }: Answer<Response>) => value

  /** `known`: a failure that is nobody's fault. */
  const send = (
    about: About,
    request: HttpClientRequest.HttpClientRequest,
    read: Read,
    limit: Duration.Duration = timeout,
    known: (error: GatewayError) => boolean = () => false
  ): Effect.Effect<Response, GatewayError> => {
    const client = read === passFile ? large : small
    const attempt = exchange(client.execute(HttpClientRequest.bearerToken(request, apiKey)), read)
    const called = callerWithin(limit).call(about, checked(attempt))
    return Effect.mapError(Effect.map(called, valueOf), (error) =>
      known(error) ? error : blameUs(names)(error)
    )
  }

  const direct = Option.getOrUndefined(yield* Effect.serviceOption(DirectTransport))
  /** JSON to one address, whose answer is waited for as a whole: what is usual in it takes the shortest way. */
  const sendTo = (address: string) => {
    const post = direct?.post(
      HttpClientRequest.post(address).pipe(
        HttpClientRequest.bearerToken(apiKey),
        HttpClientRequest.setHeader("content-type", "application/json"),
        HttpClientRequest.setHeader("accept-encoding", "identity")
      )
    )
    const usual =
      (names: Names): Usual<Response> =>
      ({ received }, bytes) => {
        // Of an upstream that says it twice, a list.
        const contentType = [received["content-type"] ?? ""].flat().join(", ")
        const value = passJson(contentType, bytes, names, conceal)
        return value && { value, requestId: requestIdOf(received) }
      }
    const rest =
      (names: Names): Rest<Response> =>
      (sent) =>
        checked(exchange(sent, passOn(idle, names, conceal)))
    const ended = (call: Effect.Effect<Answer<Response>, GatewayError>) => blame(Effect.map(call, valueOf))
    return {
      send: ({ about, body, limit = timeout, names }: Sent): Effect.Effect<Response, GatewayError> => {
        if (post === undefined) {
          const request = HttpClientRequest.bodyText(
            HttpClientRequest.post(address),
            body,
            "application/json"
          )
          return send(about, request, passOn(idle, names, conceal), limit)
        }
        return ended(callerWithin(limit).call(about, posted(post, body, usual(names), rest(names))))
      },
      begin: (
        { about, body, limit = timeout, names }: Sent,
        context: Context.Context<never>,
        hear: (outcome: Outcome) => void
      ) =>
        post &&
        callerWithin(limit).begin<Response>(
          about,
          context,
          (heard) => post(body, usual(names), rest(names), heard),
          (outcome) => hear(Effect.isEffect(outcome) ? ended(outcome) : outcome.value)
        )
    }
  }
  return { send, sendTo, conceal }
})
