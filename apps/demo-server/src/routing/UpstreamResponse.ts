/** Passes the responses of upstreams on to callers, without decoding them. */
import { Failure } from "@sluice/core/contract"
import { TimedOut } from "@sluice/core"
import { TaskId, type ErrorDetails, parseErrorBody, parseJson } from "@sluice/core/client"
import { Clock, Duration, Effect, Predicate, Schema, Stream } from "effect"
import { HttpClientError, type HttpClientResponse, HttpServerResponse } from "effect/http"
import type { MediaTask } from "../media/MediaTasks.ts"
import type { Redactor } from "./RedactCredential.ts"
import { makeEventGuard } from "./EventGuard.ts"
import { type BytesMap, mapBytes } from "../wire/MapBytes.ts"
import { finalEvent, mapEventData } from "../wire/ServerSentEvents.ts"
import { incomingBody } from "./ModelName.ts"
import type { Operations } from "./Provider.ts"
import { choiceError, fieldOf, hasImages, listOf, mediaBody, responseBody } from "./ResponseBody.ts"

/** The end of a stream, with its error. */
const endedBy = (status: Failure["status"], code: string, message: string, retryable = false): Uint8Array =>
  finalEvent(new Failure({ status, code, message, retryable }).body)

const isEventStream = (type: string): boolean => /^text\/event-stream/i.test(type)
const isJson = (type: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)

const [BRACE, CLOSED] = Buffer.from("{}")
const SPACES = new Set(Buffer.from(" \t\r\n\uFEFF"))
const isVisible = (byte: number) => !SPACES.has(byte)

/** Whether a body looks like a JSON object. Every response of the contract is one. */
const isObject = (body: Buffer): boolean =>
  body.find(isVisible) === BRACE && body.findLast(isVisible) === CLOSED

/** The fields of a result. A response that creates a task has its id and status. */
const RESULT_FIELDS: Readonly<Record<keyof Operations, ReadonlyArray<string>>> = {
  chat: ["choices"],
  embeddings: ["data"],
  rerank: ["results"],
  images: ["data", "id", "status"],
  videos: ["id", "status"]
}

/** Bytes above which a body with a result field is not parsed. Errors are shorter. */
const LARGE = 64 * 1024
const ERROR = '"error"'

/** Whether a field has a result. Some gateways send errors with empty result fields, or with a number as `status`. */
const isPresent = (value: unknown): boolean =>
  typeof value === "string" || Array.isArray(value) ? value.length > 0 : Predicate.isObject(value)

/** Whether an empty list of results is a valid response to the request. */
export const allowsNoResults = (request: { readonly top_n?: unknown }): boolean => request.top_n === 0

/** Whether a response without results is valid. */
const mayBeWithoutResult = (
  { mayBeEmpty, operation }: ResponseContext,
  answer: { readonly [name: string]: unknown }
): boolean =>
  operation === "images" ||
  operation === "videos" ||
  (mayBeEmpty && RESULT_FIELDS[operation].some((name) => Array.isArray(answer[name])))

/**
 * The error that some gateways send with status 200 in place of a result; `nothing` without a result or an error. An
 * error in addition to a result is ignored, but one inside of the choices is in place of it.
 */
const errorIn = (context: ResponseContext, bytes: Buffer): ErrorDetails | "nothing" | undefined => {
  const names = RESULT_FIELDS[context.operation]
  const mayHaveChoiceError = context.operation === "chat" && bytes.includes(ERROR)
  const isLarge = bytes.length > LARGE && names.some((name) => bytes.includes(`"${name}"`))
  if (isLarge && !mayHaveChoiceError) return undefined
  const answer = parseJson(bytes.toString())
  if (!Predicate.isObject(answer)) return undefined
  const inChoices = mayHaveChoiceError ? choiceError(answer) : undefined
  if (inChoices !== undefined) return parseErrorBody({ error: inChoices })
  if (names.some((name) => isPresent(answer[name]))) return undefined
  const error = parseErrorBody({ error: answer["error"] }) ?? parseErrorBody(answer)
  if (error !== undefined && error.code !== "0") return error
  return mayBeWithoutResult(context, answer) ? undefined : "nothing"
}

/** What the reading of a response depends on. */
export interface ResponseContext {
  readonly operation: keyof Operations
  /** The caller's name of the model. */
  readonly called: string
  /** The upstream's name of the model. */
  readonly model: string
  /** Whether an empty result is valid, as for `top_n: 0`. */
  readonly mayBeEmpty: boolean
}

const CUT_STREAM = endedBy(502, "upstream_broke_off", "The gateway's stream ended early. Try again", true)

/** The transport cuts such a stream. */
const TOO_LARGE = endedBy(
  502,
  "upstream_beyond_limit",
  "The gateway's stream exceeds 64 MiB, the limit of a response. Ask for less at once"
)

const isTooLarge = (fault: unknown): boolean =>
  HttpClientError.isHttpClientError(fault) &&
  Predicate.hasProperty(fault.reason.cause, "code") &&
  fault.reason.cause.code === "UND_ERR_RES_EXCEEDED_MAX_SIZE"

const NO_BYTES = new Uint8Array()

const LEAK = endedBy(502, "upstream_credential", "The gateway's stream repeated a credential, and was ended")

/** A stream ends after this time, however little it sends at once. The transport limits its bytes. */
export const STREAM_LIFE = Duration.hours(1)

const LIFE = Duration.format(STREAM_LIFE)

const EXPIRED_STREAM = endedBy(
  504,
  "upstream_beyond_limit",
  `The gateway's stream did not end within ${LIFE}`
)

/** The data of an event. An error inside of its choices is also beside them, where clients look for it. */
const withChoiceError = (data: string): string => {
  const event = data.includes(ERROR) ? parseJson(data) : undefined
  const error = choiceError(event)
  return error === undefined ? data : ` ${JSON.stringify({ error, ...(event as object) })}`
}

/** Passes events on, line by line. An unfinished line at the end is dropped. */
const mapEvents = ({ called, model }: ResponseContext, redactor: Redactor, clock: Clock.Clock): BytesMap => {
  const end = clock.currentTimeMillisUnsafe() + Duration.toMillis(STREAM_LIFE)
  const isExpired = () => clock.currentTimeMillisUnsafe() >= end
  const redacted = redactor.stream()
  const leaks = redactor.leak()
  let isLeak = false
  const guard = makeEventGuard(redactor.text)
  const data =
    called === model
      ? mapEventData(withChoiceError, ERROR)
      : mapEventData((data) => incomingBody(withChoiceError(data), called, model))
  return {
    push: (bytes) => {
      const guarded = guard.push(redacted.push(bytes))
      isLeak = leaks(guarded)
      return isLeak ? NO_BYTES : data.push(guarded)
    },
    isDone: () => isLeak || guard.isDone() || isExpired(),
    end: (fault) => {
      if (isLeak) return LEAK
      const guarded = Buffer.concat([guard.push(redacted.end()), guard.end()])
      const parts = [data.push(guarded), data.end()]
      if (guard.isDone()) return Buffer.concat(parts)
      if (isExpired()) return Buffer.concat([...parts, EXPIRED_STREAM])
      if (isTooLarge(fault)) return Buffer.concat([...parts, TOO_LARGE])
      return Buffer.concat(fault !== undefined || guard.isCut() ? [...parts, CUT_STREAM] : parts)
    }
  }
}

/** Removes the credential. A failed task has its error in a successful response. */
const redactedBody = (given: Buffer, { operation }: ResponseContext, redactor: Redactor): Buffer =>
  (operation === "images" || operation === "videos") && given.includes(ERROR)
    ? Buffer.from(redactor.text(given.toString("latin1")), "latin1")
    : redactor.bytes(given)

/** The response with the caller's name of the model and without the credential; undefined unless it is a JSON result. */
const forwardJson = (
  type: string,
  given: Buffer,
  context: ResponseContext,
  redactor: Redactor
): HttpServerResponse.HttpServerResponse | undefined => {
  if (!isJson(type) || errorIn(context, given) !== undefined) return undefined
  const { called, model } = context
  const contentType = redactor.text(type)
  const bytes = redactedBody(given, context, redactor)
  if (!isObject(bytes)) return undefined
  return called === model
    ? HttpServerResponse.uint8Array(bytes, { contentType })
    : HttpServerResponse.text(incomingBody(new TextDecoder().decode(bytes), called, model), { contentType })
}

export type ReadResponse = (
  response: HttpClientResponse.HttpClientResponse
) => Effect.Effect<HttpServerResponse.HttpServerResponse | NoResult, HttpClientError.HttpClientError>

/**
 * Passes a response on, with the content type as its only header. JSON is buffered, and events are streamed. Other
 * responses, such as HTML or an error with status 200, are a `NoResult`.
 */
export const forwardResponse =
  (idle: Duration.Duration, context: ResponseContext, redactor: Redactor): ReadResponse =>
  (response) => {
    const contentType = response.headers["content-type"] ?? ""
    if (isEventStream(contentType)) {
      return Effect.map(Clock.Clock, (clock) =>
        HttpServerResponse.stream(
          mapBytes(response.stream, () => mapEvents(context, redactor, clock), idle),
          { contentType: redactor.text(contentType) }
        )
      )
    }
    return Effect.map(response.arrayBuffer, (body) => {
      const bytes = Buffer.from(body)
      const json = forwardJson(contentType, bytes, context, redactor)
      return json ?? { contentType, error: isJson(contentType) && errorIn(context, bytes) }
    })
  }

/** How long a download may send nothing. */
const FILE_IDLE = "60 seconds"

const downloadFailed = (what: string, after: Duration.Input) =>
  new TimedOut({
    message: `The file's download ${what}`,
    scope: "attempt",
    after: Duration.fromInputUnsafe(after)
  })
const stalled = downloadFailed(`sent nothing for ${FILE_IDLE}`, FILE_IDLE)
const tooSlow = downloadFailed(`did not end within ${LIFE}`, STREAM_LIFE)

/** Streams a video. If it stalls or is slow, the connection is closed, so that the file does not look complete. */
export const forwardVideo: ReadResponse = (response) =>
  Effect.map(Clock.Clock, (clock) => {
    const contentType = response.headers["content-type"] ?? ""
    if (!/^(?:video\/|application\/octet-stream)/i.test(contentType)) return { contentType, error: undefined }
    const end = clock.currentTimeMillisUnsafe() + Duration.toMillis(STREAM_LIFE)
    const file = response.stream.pipe(
      Stream.timeoutOrElse({ duration: FILE_IDLE, orElse: () => Stream.fail(stalled) }),
      Stream.mapEffect((part) =>
        clock.currentTimeMillisUnsafe() < end ? Effect.succeed(part) : Effect.fail(tooSlow)
      )
    )
    const headers = { "cache-control": "private, no-store" }
    return HttpServerResponse.stream(file, { contentType: "video/mp4", headers })
  })

/** Ignores the body: the interface does not define the response to a deletion. */
export const ignoreBody: ReadResponse = () => Effect.succeed(HttpServerResponse.empty())

/** Whether an id can be used in a path. */
const isTaskId = Schema.is(TaskId)

/** The id of the task that a response starts; `"completed"` if it has the images, undefined if it has neither. */
export const createdTask = (
  kind: "image" | "video",
  response: HttpServerResponse.HttpServerResponse
): { readonly id: string } | "completed" | undefined => {
  const body = mediaBody(response)
  const id = fieldOf(body, "id")
  if (isTaskId(id) && !(kind === "image" && hasImages(body))) return { id }
  return kind === "image" && listOf(fieldOf(body, "data")).length > 0 ? "completed" : undefined
}

/** The response with this server's id and the request's fields, for a task that has another id at its vendor. */
export const withTaskId = (
  response: HttpServerResponse.HttpServerResponse,
  { id, reference, told }: Pick<MediaTask, "id" | "reference" | "told">
): HttpServerResponse.HttpServerResponse => {
  const body = reference === undefined ? undefined : responseBody(response, "all")
  return Predicate.isObject(body)
    ? HttpServerResponse.text(JSON.stringify({ ...told, ...body, id }), { contentType: "application/json" })
    : response
}

/** A response without a result: its content type, and its error. */
export interface NoResult {
  readonly contentType: string
  readonly error: ErrorDetails | "nothing" | false | undefined
}
