/**
 * The shortest way of a call that answers questions while somebody waits: from a request in its usual form to an answer
 * in its usual form without the steps between.
 *
 * Encoding by the contract's schema and a client around a client cost as much as undici itself. What is not usual, on
 * either side, goes the contract's way, and so do all failures; a test holds that both ways send and give the same.
 */
import { Context, Effect, Option, Result } from "effect"
import { type HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { ApiKey } from "../../contract/Credentials.ts"
import type { Answer, Problem } from "./Answer.ts"
import { IdempotencyKey } from "./Idempotency.ts"
import { type Addressed, type Hear, WholeResponse } from "./Whole.ts"

type Response = HttpClientResponse.HttpClientResponse

/** Reads an answer with status 200; undefined, or JSON's error, where it is not usual. */
export type Usual<A> = (response: WholeResponse, bytes: Buffer) => Answer<A> | undefined
/** Goes on with what is not usual. */
export type Rest<A> = (
  send: Effect.Effect<Response, HttpClientError.HttpClientError>
) => Effect.Effect<Answer<A>, Problem>

/** What came of it: an answer in its usual form, or an effect that goes on with what is not. */
export type Outcome<A, E> = Answer<A> | Effect.Effect<Answer<A>, E>

/** Posts JSON to one address, again and again; `hear` is told once. What is given back ends it, and tells nothing. */
export type Post = <A>(
  body: string,
  usual: Usual<A>,
  rest: Rest<A>,
  hear: (outcome: Outcome<A, Problem>) => void
) => () => void

/** What a transport may offer besides `HttpClient`. A program's own transport does not. */
export class DirectTransport extends Context.Service<
  DirectTransport,
  { readonly post: (request: HttpClientRequest.HttpClientRequest) => Post }
>()("@sluice/core/client/DirectTransport") {}

/** `post` over a dispatcher, as Whole.ts has it. */
export const posting =
  (send: (target: Addressed, body: string, hear: Hear) => () => void) =>
  (request: HttpClientRequest.HttpClientRequest): Post => {
    const target = { request, url: new URL(request.url), headers: Object.entries(request.headers).flat() }
    return (body, usual, rest, hear) =>
      send(target, body, (outcome) =>
        hear(
          outcome instanceof WholeResponse
            ? (read(outcome, usual) ?? rest(Effect.succeed(outcome)))
            : rest(Effect.fail(outcome))
        )
      )
  }

/** As an effect. */
export const posted = <A>(
  post: Post,
  body: string,
  usual: Usual<A>,
  rest: Rest<A>
): Effect.Effect<Answer<A>, Problem> =>
  Effect.callback((resume) => {
    const stop = post(body, usual, rest, (outcome) =>
      resume(Effect.isEffect(outcome) ? outcome : Effect.succeed(outcome))
    )
    return Effect.sync(stop)
  })

const read = <A>(response: WholeResponse, usual: Usual<A>): Answer<A> | undefined => {
  if (response.status !== 200 || Result.isFailure(response.body)) return undefined
  if (response.received["content-encoding"] !== undefined) return undefined
  try {
    return usual(response, response.body.success)
  } catch {
    // No JSON: the contract's way says so.
    return undefined
  }
}

/**
 * The way to a path: direct where the transport offers it and the call carries no key of its own, else as the contract
 * has it.
 */
export const directTo = Effect.fnUntraced(function* (baseUrl: string, path: string, credential: ApiKey) {
  const transport = yield* Effect.serviceOption(DirectTransport)
  const request = HttpClientRequest.post(`${baseUrl}${path}`).pipe(
    HttpClientRequest.bearerToken(credential),
    HttpClientRequest.setHeader("content-type", "application/json"),
    HttpClientRequest.acceptJson,
    HttpClientRequest.setHeader("accept-encoding", "identity")
  )
  const post = Option.map(transport, ({ post }) => post(request))
  return <A>(
    body: () => string,
    usual: Usual<A>,
    rest: Rest<A>,
    byContract: () => Effect.Effect<Answer<A>, Problem>
  ): Effect.Effect<Answer<A>, Problem> =>
    Effect.withFiber((fiber) =>
      Option.isSome(post) && fiber.getRef(IdempotencyKey) === undefined
        ? posted(post.value, body(), usual, rest)
        : byContract()
    )
})
