/**
 * The shortest way of a call that answers questions while somebody waits: from a request in its usual form to an answer
 * in its usual form without the steps between.
 *
 * Encoding by the contract's schema and a client around a client cost as much as undici itself. What is not usual, on
 * either side, goes the contract's way, and so do all failures; a test holds that both ways send and give the same.
 */
import { Context, Effect, Redacted, Result } from "effect"
import { type HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { ApiKey } from "../Credentials.ts"
import type { Answer, Problem } from "./Answer.ts"
import { IdempotencyKey } from "./Idempotency.ts"
import { type Addressed, type Hear, WholeResponse } from "./Whole.ts"

type Response = HttpClientResponse.HttpClientResponse

/** Posts JSON to one address again and again; `usual` sees each answer first, and where it makes nothing of it, `rest` does. */
export type Post = <A>(
  body: string,
  usual: (response: WholeResponse, bytes: Buffer) => Answer<A> | undefined,
  rest: (send: Effect.Effect<Response, HttpClientError.HttpClientError>) => Effect.Effect<Answer<A>, Problem>
) => Effect.Effect<Answer<A>, Problem>

/** What a transport may offer besides `HttpClient`. A program's own transport does not. */
export class DirectTransport extends Context.Service<
  DirectTransport,
  { readonly post: (request: HttpClientRequest.HttpClientRequest) => Post }
>()("@sluice/core/client/DirectTransport") {}

/** `post` over a dispatcher, as Whole.ts has it. */
export const posting =
  (send: (target: Addressed, body: string, hear: Hear) => Effect.Effect<void>) =>
  (request: HttpClientRequest.HttpClientRequest): Post => {
    const target = { request, url: new URL(request.url), headers: Object.entries(request.headers).flat() }
    return (body, usual, rest) =>
      Effect.callback((resume) =>
        send(target, body, (outcome) => {
          if (!(outcome instanceof WholeResponse)) return resume(rest(Effect.fail(outcome)))
          const answer = read(outcome, usual)
          resume(answer === undefined ? rest(Effect.succeed(outcome)) : Effect.succeed(answer))
        })
      )
  }

const read = <A>(
  response: WholeResponse,
  usual: (response: WholeResponse, bytes: Buffer) => Answer<A> | undefined
): Answer<A> | undefined => {
  if (response.status !== 200 || Result.isFailure(response.body)) return undefined
  if (response.received["content-encoding"] !== undefined) return undefined
  try {
    return usual(response, response.body.success)
  } catch {
    // No JSON: the contract's way says so.
    return undefined
  }
}

/** The way to a path, where the transport offers it. */
export const directTo = Effect.fnUntraced(function* (baseUrl: string, path: string, credential: ApiKey) {
  const transport = yield* Effect.serviceOption(DirectTransport)
  if (transport._tag === "None") return undefined
  const request = HttpClientRequest.post(`${baseUrl}${path}`).pipe(
    HttpClientRequest.bearerToken(Redacted.make(Redacted.value(credential))),
    HttpClientRequest.setHeader("content-type", "application/json"),
    HttpClientRequest.acceptJson,
    HttpClientRequest.setHeader("accept-encoding", "identity")
  )
  return transport.value.post(request)
})

/** The direct attempt where the request is usual and carries no key of its own, else the other one. */
export const directly = <A>(
  usual: Effect.Effect<Answer<A>, Problem> | undefined,
  other: () => Effect.Effect<Answer<A>, Problem>
): Effect.Effect<Answer<A>, Problem> =>
  usual === undefined
    ? other()
    : Effect.withFiber((fiber) => (fiber.getRef(IdempotencyKey) === undefined ? usual : other()))
