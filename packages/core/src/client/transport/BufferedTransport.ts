/** Reads responses straight from undici's dispatcher into memory, without a stream for each. */
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

/** Whether the transport may buffer a response before returning it. False unless the caller sets it. */
export const BufferResponse = Context.Reference<boolean>("@sluice/core/client/BufferResponse", {
  defaultValue: () => false
})

/**
 * A client that buffers responses where `BufferResponse` is set, and streams all others through `streaming`.
 *
 * **Details.** Failures are those of the streaming client: a response that breaks off is returned, and reading it fails.
 * Bodies with a content encoding are not read, because nothing here decompresses. Time-outs are left to the caller; an
 * interruption aborts the request, queued or under way.
 */
export const buffering = (dispatcher: Dispatcher, streaming: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.makeWith<HttpClientError, never, HttpClientError, never>(
    Effect.flatMap((request) =>
      Effect.withFiber((fiber) => {
        const { body } = request
        const bytes = body._tag === "Uint8Array" ? body.body : null
        return fiber.getRef(BufferResponse) && (bytes !== null || body._tag === "Empty")
          ? dispatch(dispatcher, request, bytes)
          : streaming.execute(request)
      })
    ),
    Effect.succeed
  )

/** Content codings are case-insensitive. */
export const isEncoded = (coding: unknown): boolean =>
  coding !== undefined && String(coding).toLowerCase() !== "identity"

/** Longer than any time-out of a call, which `Effect` applies. */
const HEADERS_TIMEOUT = 60 * 60 * 1000
const NO_TIMEOUT = 0

const dispatch = (
  dispatcher: Dispatcher,
  request: Request,
  body: Uint8Array | null
): Effect.Effect<Response, HttpClientError> =>
  Effect.callback<Response, HttpClientError>((resume) => {
    const fail = (reason: HttpClientError.HttpClientErrorReason) =>
      resume(Effect.fail(new HttpClientError.HttpClientError({ reason })))
    const url = Url.make(request.url, request.urlParams, undefined)
    if (Result.isFailure(url)) {
      return fail(new HttpClientError.InvalidUrlError({ request, cause: url.failure }))
    }
    const { href, origin, pathname, search } = url.success
    const { headers, method } = request
    const chunks: Array<Buffer> = []
    let controller: Dispatcher.DispatchController | undefined
    let head: ResponseHead | undefined
    let isAborted = false
    const abort = () => {
      isAborted = true
      controller?.abort(new Error("The request was interrupted."))
    }
    // Only the first call of `resume` counts.
    const respond = (head: ResponseHead, bytes: Result.Result<Buffer, unknown>) =>
      resume(Effect.succeed(new BufferedResponse(head, bytes)))
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started
        if (isAborted) abort()
      },
      onResponseStart: (_, status, received) => {
        if (status < 200) return
        head = { request, url: href, status, received }
        if (!isEncoded(received["content-encoding"])) return
        respond(head, Result.succeed(Buffer.alloc(0)))
        abort()
      },
      onResponseData: (_, chunk) => void chunks.push(chunk),
      onResponseEnd: () => {
        const [first = Buffer.alloc(0)] = chunks
        if (head !== undefined)
          respond(head, Result.succeed(chunks.length > 1 ? Buffer.concat(chunks) : first))
      },
      onResponseError: (_, cause) =>
        head === undefined
          ? fail(new HttpClientError.TransportError({ request, cause }))
          : respond(head, Result.fail(cause))
    }
    const timeouts = { headersTimeout: HEADERS_TIMEOUT, bodyTimeout: NO_TIMEOUT }
    dispatcher.dispatch({ origin, path: pathname + search, method, headers, body, ...timeouts }, handler)
    return Effect.sync(abort)
  })

interface ResponseHead {
  readonly request: Request
  readonly url: string
  readonly status: number
  readonly received: IncomingHttpHeaders
}

const utf8 = new TextDecoder()

/** A buffered response, or the head of one whose body failed. Rarely used views are built from a web `Response`. */
class BufferedResponse extends Inspectable.Class implements Response {
  readonly [HttpIncomingMessage.TypeId] = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId] = HttpClientResponse.TypeId
  readonly request: Request
  readonly url: string
  readonly status: number
  readonly remoteAddress = Option.none<string>()
  private readonly received: IncomingHttpHeaders
  private readonly body: Result.Result<Buffer, unknown>
  private parsedHeaders: Headers.Headers | undefined

  constructor({ received, request, status, url }: ResponseHead, body: Result.Result<Buffer, unknown>) {
    super()
    this.request = request
    this.url = url
    this.status = status
    this.received = received
    this.body = body
  }

  get headers() {
    return (this.parsedHeaders ??= Headers.fromInput(this.received))
  }

  private read<A>(parse: (bytes: Buffer) => A): Effect.Effect<A, HttpClientError> {
    return Effect.suspend(() => {
      try {
        return Effect.succeed(parse(Result.getOrThrowWith(this.body, (cause) => cause)))
      } catch (cause) {
        const reason = new HttpClientError.DecodeError({ request: this.request, response: this, cause })
        return Effect.fail(new HttpClientError.HttpClientError({ reason }))
      }
    })
  }

  /** A copy: undici's buffer may be a part of a larger one. */
  get arrayBuffer() {
    return this.read((bytes) => new Uint8Array(bytes).buffer)
  }

  get text() {
    return this.read((bytes) => utf8.decode(bytes))
  }

  get json(): Effect.Effect<Schema.Json, HttpClientError> {
    return this.read((bytes) => (bytes.length === 0 ? null : (JSON.parse(utf8.decode(bytes)) as Schema.Json)))
  }

  private get web() {
    return this.read((bytes) => {
      const { headers, status } = this
      const body = bytes.length === 0 ? null : new Uint8Array(bytes)
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
