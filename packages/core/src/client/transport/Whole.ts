/** Answers that come whole: straight from undici's dispatcher, without a stream, promises and a signal for each. */
import type { IncomingHttpHeaders } from "node:http"
import { Context, Effect, Inspectable, Option, Pipeable, Result, type Schema, Stream } from "effect"
import {
  Cookies,
  Headers,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse,
  HttpIncomingMessage,
  Url
} from "effect/http"
import type { Dispatcher } from "undici"

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse
type HttpClientError = HttpClientError.HttpClientError

/** Whether the transport may wait for a whole answer before it gives it: false unless a caller says so. */
export const ReadWhole = Context.Reference<boolean>("@sluice/core/client/ReadWhole", {
  defaultValue: () => false
})

/**
 * A client that reads answers whole for those who say `ReadWhole`, and leaves all others to the client given.
 *
 * **Details.** What it says of failures is the same: an answer that breaks off is given, and reading it fails. A
 * compressed one is not read: nothing here would open it. Time-outs are Effect's matter; an interruption ends the
 * request, queued or under way.
 */
export const reading = (dispatcher: Dispatcher, streaming: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.makeWith<HttpClientError, never, HttpClientError, never>(
    Effect.flatMap((request) =>
      Effect.withFiber((fiber) => {
        const { body } = request
        const bytes = body._tag === "Uint8Array" ? body.body : null
        return fiber.getRef(ReadWhole) && (bytes !== null || body._tag === "Empty")
          ? dispatch(dispatcher, request, bytes)
          : streaming.execute(request)
      })
    ),
    Effect.succeed
  )

/** Codings are told in any case. */
export const isEncoded = (coding: unknown): boolean =>
  coding !== undefined && String(coding).toLowerCase() !== "identity"

/** As far off as none: Effect's time-outs are nearer. */
const HEADERS_TIMEOUT = 60 * 60 * 1000
const NO_TIMEOUT = 0

const dispatch = (
  dispatcher: Dispatcher,
  request: Request,
  body: Uint8Array | null
): Effect.Effect<Response, HttpClientError> =>
  Effect.callback<Response, HttpClientError>((resume) => {
    const parsed = Url.make(request.url, request.urlParams, undefined)
    if (Result.isFailure(parsed)) {
      const reason = new HttpClientError.InvalidUrlError({ request, cause: parsed.failure })
      return resume(Effect.fail(new HttpClientError.HttpClientError({ reason })))
    }
    const target = { request, url: parsed.success, headers: request.headers }
    const stop = begin(dispatcher, target, body, (outcome) =>
      resume(outcome instanceof WholeResponse ? Effect.succeed(outcome) : Effect.fail(outcome))
    )
    return Effect.sync(stop)
  })

/** A request whose address has been read. */
export interface Addressed {
  readonly request: Request
  readonly url: URL
  readonly headers: Headers.Headers | Array<string>
}

/** How it went: with an answer, or with none. */
export type Hear = (outcome: WholeResponse | HttpClientError) => void

/** Sends it; `hear` is told once how it went. What is given back ends it before. */
export const begin = (
  dispatcher: Dispatcher,
  { headers, request, url }: Addressed,
  body: Uint8Array | string | null,
  hear: Hear
): (() => void) => {
  const chunks: Array<Buffer> = []
  let controller: Dispatcher.DispatchController | undefined
  let head: Head | undefined
  let given = false
  const give = (outcome: WholeResponse | HttpClientError) => {
    // What is ended fails after that.
    if (given) return
    given = true
    hear(outcome)
  }
  const stop = () => controller?.abort(new Error("The request was interrupted."))
  dispatcher.dispatch(
    {
      origin: url.origin,
      path: url.pathname + url.search,
      method: request.method,
      headers,
      body,
      headersTimeout: HEADERS_TIMEOUT,
      bodyTimeout: NO_TIMEOUT
    },
    {
      onRequestStart: (started) => {
        controller = started
        if (given) stop()
      },
      onResponseStart: (_, status, received) => {
        if (status < 200) return
        head = { request, url: url.href, status, received }
        if (!isEncoded(received["content-encoding"])) return
        give(new WholeResponse(head, Result.succeed(Buffer.alloc(0))))
        stop()
      },
      onResponseData: (_, chunk) => {
        chunks.push(chunk)
      },
      onResponseEnd: () => {
        const [first = Buffer.alloc(0)] = chunks
        const bytes = chunks.length > 1 ? Buffer.concat(chunks) : first
        if (head !== undefined) give(new WholeResponse(head, Result.succeed(bytes)))
      },
      onResponseError: (_, cause) => {
        if (head === undefined) {
          const reason = new HttpClientError.TransportError({ request, cause })
          give(new HttpClientError.HttpClientError({ reason }))
        } else give(new WholeResponse(head, Result.fail(cause)))
      }
    }
  )
  return () => {
    given = true
    stop()
  }
}

interface Head {
  readonly request: Request
  readonly url: string
  readonly status: number
  readonly received: IncomingHttpHeaders
}

/** An answer that is there, or whose end is not. What is seldom asked for is left to a web response. */
export class WholeResponse extends Inspectable.Class implements Response {
  readonly [HttpIncomingMessage.TypeId] = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId] = HttpClientResponse.TypeId
  readonly request: Request
  readonly url: string
  readonly status: number
  readonly remoteAddress = Option.none<string>()
  readonly received: IncomingHttpHeaders
  /** What came, or why its end did not. */
  readonly body: Result.Result<Buffer, unknown>
  private named: Headers.Headers | undefined

  constructor({ received, request, status, url }: Head, body: Result.Result<Buffer, unknown>) {
    super()
    this.request = request
    this.url = url
    this.status = status
    this.received = received
    this.body = body
  }

  get headers() {
    return (this.named ??= Headers.fromInput(this.received))
  }

  get bytes(): Effect.Effect<Buffer, HttpClientError> {
    const { body } = this
    return Result.isSuccess(body)
      ? Effect.succeed(body.success)
      : Effect.suspend(() => this.unreadable(body.failure))
  }

  private unreadable(cause: unknown) {
    const reason = new HttpClientError.DecodeError({ request: this.request, response: this, cause })
    return Effect.fail(new HttpClientError.HttpClientError({ reason }))
  }

  /** A copy, for it has to end where the answer does. */
  get arrayBuffer() {
    return Effect.map(this.bytes, (bytes) => new Uint8Array(bytes).buffer)
  }

  get text() {
    return Effect.map(this.bytes, (bytes) => new TextDecoder().decode(bytes))
  }

  get json(): Effect.Effect<Schema.Json, HttpClientError> {
    return Effect.flatMap(this.text, (text) => {
      try {
        return Effect.succeed(text === "" ? null : (JSON.parse(text) as Schema.Json))
      } catch (cause) {
        return this.unreadable(cause)
      }
    })
  }

  private get web() {
    return Effect.map(this.arrayBuffer, (bytes) => {
      const { headers, status } = this
      const body = bytes.byteLength === 0 ? null : bytes
      return HttpClientResponse.fromWeb(this.request, new globalThis.Response(body, { headers, status }))
    })
  }

  get formData() {
    return Effect.flatMap(this.web, ({ formData }) => formData)
  }

  get urlParamsBody() {
    return Effect.flatMap(this.web, ({ urlParamsBody }) => urlParamsBody)
  }

  get upgrade() {
    return Effect.flatMap(this.web, ({ upgrade }) => upgrade)
  }

  get stream() {
    return Stream.unwrap(Effect.map(this.web, ({ stream }) => stream))
  }

  get cookies() {
    return Cookies.fromSetCookie(this.received["set-cookie"] ?? [])
  }

  pipe() {
    return Pipeable.pipeArguments(this, arguments)
  }

  toJSON() {
    const { request, status } = this
    return HttpIncomingMessage.inspect(this, { _id: "HttpClientResponse", request: request.toJSON(), status })
  }
}

/** The bytes of an answer, as they lie in memory. */
export const bytesOf = (response: Response): Effect.Effect<Buffer, HttpClientError> =>
  response instanceof WholeResponse
    ? response.bytes
    : Effect.map(response.arrayBuffer, (bytes) => Buffer.from(bytes))
