/** Reads responses from undici's dispatcher. Node's streams and abort signals cost more than the rest of a call. */
import type { IncomingHttpHeaders } from "node:http"
import {
  Cause,
  Context,
  Effect,
  Inspectable,
  Option,
  Pipeable,
  type Pull,
  Result,
  type Schema,
  Stream
} from "effect"
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

/** Whether the transport waits for the whole response. Otherwise its head is returned, and its body is read as it arrives. */
export const BufferResponse = Context.Reference<boolean>("@sluice/core/client/BufferResponse", {
  defaultValue: () => false
})

/**
 * A client that sends bytes through a dispatcher, and bodies of other kinds through `other`.
 *
 * **Details.** A response that breaks off is returned, and reading it fails. Bodies with a content encoding are not read,
 * because nothing here decompresses. Time-outs are left to the caller; an interruption aborts the request, queued or under
 * way.
 */
export const dispatching = (dispatcher: Dispatcher, other: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.makeWith<HttpClientError, never, HttpClientError, never>(
    Effect.flatMap((request) =>
      Effect.withFiber((fiber) => {
        const { body } = request
        if (body._tag !== "Uint8Array" && body._tag !== "Empty") return other.execute(request)
        const bytes = body._tag === "Uint8Array" ? body.body : null
        return dispatch(dispatcher, request, bytes, fiber.getRef(BufferResponse))
      })
    ),
    Effect.succeed
  )

/** Content codings are case-insensitive. */
export const isEncoded = (coding: unknown): boolean =>
  coding !== undefined && String(coding).toLowerCase() !== "identity"

/** Nothing decompresses: a small body may become huge. */
export const IDENTITY = { "accept-encoding": "identity" }

/** Longer than any time-out of a call, which `Effect` applies. */
const HEADERS_TIMEOUT = 60 * 60 * 1000
const NO_TIMEOUT = 0

const dispatch = (
  dispatcher: Dispatcher,
  request: Request,
  body: Uint8Array | null,
  isBuffered: boolean
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
    const received = new ReceivedBody(isBuffered)
    let head: ResponseHead | undefined
    // Only the first call of `resume` counts.
    const respond = (head: ResponseHead) => {
      const response = new DispatchedResponse(head, received)
      if (!isBuffered) unread.register(response, received)
      resume(Effect.succeed(response))
    }
    const end = (result: Result.Result<void, unknown>) => {
      received.end(result)
      if (isBuffered && head !== undefined) respond(head)
    }
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (controller) => received.start(controller),
      onResponseStart: (controller, status, headers) => {
        if (status < 200) return
        head = { request, url: href, status, received: headers }
        const isUnreadable = isEncoded(headers["content-encoding"])
        if (isUnreadable) received.end(Result.void)
        if (isUnreadable || !isBuffered) respond(head)
        if (isUnreadable) controller.abort(interrupted())
      },
      onResponseData: (_, chunk) => received.push(chunk),
      onResponseEnd: () => end(Result.void),
      onResponseError: (_, cause) => {
        if (head === undefined) fail(new HttpClientError.TransportError({ request, cause }))
        end(Result.fail(cause))
      }
    }
    const path = pathname + search
    const timeouts = { headersTimeout: HEADERS_TIMEOUT, bodyTimeout: NO_TIMEOUT }
    const sent = { ...headers, ...IDENTITY }
    dispatcher.dispatch({ origin, path, method, headers: sent, body, ...timeouts }, handler)
    return Effect.sync(() => received.abort())
  })

const interrupted = () => new Error("The request was interrupted.")

/** Bytes that wait for their reader before the gateway is paused. */
const MAX_WAITING = 64 * 1024

/** Bytes that a reader gets before other work runs: to read the events in them takes some 20 ms. */
const PORTION = 32 * 1024

/** The body of a response: read as it arrives, or when it is complete. */
class ReceivedBody {
  private isBuffered: boolean
  private controller: Dispatcher.DispatchController | undefined
  private chunks: Array<Buffer> = []
  private size = 0
  /** Bytes that were taken since other work ran. */
  private unbroken = 0
  private ended: Result.Result<void, unknown> | undefined
  private isAborted = false
  /** Tells a waiting reader that more has arrived, or that the body has ended. */
  private notify = () => {}

  constructor(isBuffered: boolean) {
    this.isBuffered = isBuffered
  }

  start(controller: Dispatcher.DispatchController) {
    this.controller = controller
    if (this.isAborted) this.abort()
  }

  push(chunk: Buffer) {
    this.chunks.push(chunk)
    this.size += chunk.length
    if (!this.isBuffered && this.size > MAX_WAITING) this.controller?.pause()
    this.notify()
  }

  end(result: Result.Result<void, unknown>) {
    this.ended ??= result
    this.notify()
  }

  /** Ends the request, which closes its connection, unless the response is complete. */
  abort() {
    this.isAborted = true
    if (this.ended === undefined) this.controller?.abort(interrupted())
  }

  /** A portion of what has arrived. */
  private take(): Buffer {
    const all = this.bytesSoFar()
    const rest = all.subarray(PORTION)
    this.chunks = rest.length === 0 ? [] : [rest]
    this.size = rest.length
    if (rest.length === 0) this.controller?.resume()
    return all.subarray(0, PORTION)
  }

  private whenNotified<A, E>(then: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.callback<A, E>((resume) => {
      this.notify = () => resume(then)
    })
  }

  /** The bytes that have arrived since the last time. `broken` makes the error of a body that has broken off. */
  takeParts<E>(broken: (cause: unknown) => E): Pull.Pull<readonly [Buffer], E> {
    return Effect.suspend(() => {
      if (this.chunks.length > 0) {
        const part = this.take()
        this.unbroken += part.length
        if (this.unbroken < PORTION) return Effect.succeed([part] as const)
        this.unbroken = 0
        return Effect.as(Effect.yieldNow, [part] as const)
      }
      if (this.ended === undefined) return this.whenNotified(this.takeParts(broken))
      return Result.isFailure(this.ended) ? Effect.fail(broken(this.ended.failure)) : Cause.done()
    })
  }

  /** Runs `then` once all bytes have arrived, or the body has broken off. */
  whenEnded<A, E>(then: () => Effect.Effect<A, E>): Effect.Effect<A, E> {
    if (this.ended !== undefined) return then()
    this.isBuffered = true
    this.controller?.resume()
    return this.whenNotified(Effect.suspend(() => this.whenEnded(then)))
  }

  /** All bytes. Throws if the body has broken off. */
  bytes(): Buffer {
    if (this.ended !== undefined && Result.isFailure(this.ended)) throw this.ended.failure
    return this.bytesSoFar()
  }

  private bytesSoFar(): Buffer {
    if (this.chunks.length !== 1) this.chunks = [Buffer.concat(this.chunks)]
    return this.chunks[0] as Buffer
  }
}

interface ResponseHead {
  readonly request: Request
  readonly url: string
  readonly status: number
  readonly received: IncomingHttpHeaders
}

const utf8 = new TextDecoder()

/** Ends requests whose responses nobody reads. */
const unread = new FinalizationRegistry<ReceivedBody>((body) => body.abort())

/** A response whose body is read from the dispatcher. Rarely used views are built from a web `Response`. */
class DispatchedResponse extends Inspectable.Class implements Response {
  readonly [HttpIncomingMessage.TypeId] = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId] = HttpClientResponse.TypeId
  readonly request: Request
  readonly url: string
  readonly status: number
  readonly remoteAddress = Option.none<string>()
  private readonly received: IncomingHttpHeaders
  private readonly body: ReceivedBody
  private parsedHeaders: Headers.Headers | undefined

  constructor({ received, request, status, url }: ResponseHead, body: ReceivedBody) {
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

  private decodeError(cause: unknown) {
    const reason = new HttpClientError.DecodeError({ request: this.request, response: this, cause })
    return new HttpClientError.HttpClientError({ reason })
  }

  private read<A>(parse: (bytes: Buffer) => A): Effect.Effect<A, HttpClientError> {
    const parsed = Effect.try({
      try: () => parse(this.body.bytes()),
      catch: (cause) => this.decodeError(cause)
    })
    return Effect.suspend(() => this.body.whenEnded(() => parsed))
  }

  /** A copy if undici's buffer is a part of a larger one. */
  get arrayBuffer() {
    return this.read((bytes) =>
      bytes.length === bytes.buffer.byteLength ? (bytes.buffer as ArrayBuffer) : new Uint8Array(bytes).buffer
    )
  }

  get text() {
    return this.read((bytes) => utf8.decode(bytes))
  }

  get json(): Effect.Effect<Schema.Json, HttpClientError> {
    return this.read((bytes) => (bytes.length === 0 ? null : (JSON.parse(utf8.decode(bytes)) as Schema.Json)))
  }

  /** Stopping to read it ends the request. */
  get stream(): Stream.Stream<Uint8Array, HttpClientError> {
    return Stream.fromPull(Effect.succeed(this.body.takeParts((cause) => this.decodeError(cause)))).pipe(
      Stream.ensuring(Effect.sync(() => this.body.abort()))
    )
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
