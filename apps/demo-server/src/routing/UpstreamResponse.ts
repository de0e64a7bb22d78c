/** Reads the responses of upstreams without decoding them. */
import { Failure } from "@sluice/core/contract"
import { TimedOut } from "@sluice/core"
import { TaskId, type ErrorDetails, parseErrorBody } from "@sluice/core/client"
import { Duration, Effect, Schema, Stream } from "effect"
import { type HttpClientError, type HttpClientResponse, HttpServerResponse } from "effect/http"
import type { Redactor } from "./RedactCredential.ts"
import { makeEventGuard } from "./EventGuard.ts"
import { hasResultField, RESULT_FIELDS } from "./ExpectedFields.ts"
import { finalEvent, mapEventData } from "../wire/ServerSentEvents.ts"
import type { Dialect } from "./dialects/Dialect.ts"
import { interfaceBody, interfaceEvent, passesEvents } from "./dialects/DialectResponse.ts"
import { incomingBody, incomingEvents } from "./ModelName.ts"
import type { Operations } from "./Provider.ts"
import { hasImages } from "./ResponseBody.ts"

const isEventStream = (type: string): boolean => /^text\/event-stream/i.test(type)
const isJson = (type: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)

/** Every response of the contract is an object: cut or garbled ones are recognised without parsing them. */
const isObject = (body: string): boolean => {
  const text = body.trim()
  return text.startsWith("{") && text.endsWith("}")
}

const [BRACE, CLOSED, NEWLINE] = Buffer.from("{}\n")

/** The same for bytes with at most a line end around the object. */
const isPlainObject = (bytes: Buffer): boolean =>
  bytes[0] === BRACE && bytes[bytes.length - (bytes.at(-1) === NEWLINE ? 2 : 1)] === CLOSED

/** Errors are short. */
const ERROR_BYTES = 64 * 1024
const ERROR = Buffer.from('"error"')

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

/** Some gateways send an error with all fields of a response, empty; others send the status as a number. */
const isPresent = (value: unknown): boolean =>
  typeof value === "string" || Array.isArray(value) ? value.length > 0 : fieldsOf(value) !== undefined

/** Whether a response without results is valid. */
const mayBeWithoutResult = ({ mayBeEmpty, operation }: Names, answer: Fields): boolean =>
  operation === "images" ||
  operation === "videos" ||
  (mayBeEmpty && RESULT_FIELDS[operation].some((name) => Array.isArray(answer[name])))

/**
 * The error that some gateways send with status 200: an `error`, or `success: false`, in place of a result; `nothing`
 * if there is neither.
 */
const errorIn = (names: Names, bytes: Buffer): ErrorDetails | "nothing" | undefined => {
  const { operation } = names
  const isThere = hasResultField(operation, bytes)
  if (isThere && (bytes.length > ERROR_BYTES || !bytes.includes(ERROR))) return undefined
  try {
    const answer = fieldsOf(JSON.parse(bytes.toString()))
    // An error beside a result does not invalidate it.
    if (answer === undefined || RESULT_FIELDS[operation].some((name) => isPresent(answer[name])))
      return undefined
    const told = parseErrorBody({ error: answer["error"] }) ?? (isThere ? undefined : parseErrorBody(answer))
    if (told !== undefined && told.code !== "0") return told
    return mayBeWithoutResult(names, answer) ? undefined : "nothing"
  } catch {
    return undefined
  }
}

/** The caller's and the upstream's names of a model, and what it is called for. */
export interface Names {
  readonly operation: keyof Operations
  readonly called: string
  readonly model: string
  /** An empty result is valid, as for `top_n: 0`. */
  readonly mayBeEmpty: boolean
  readonly dialect: Dialect
}

const { body: brokenOff } = new Failure({
  status: 502,
  message: "The gateway's stream broke off: ask again",
  code: "upstream_broke_off",
  retryable: true
})

/** Ends a stream that breaks off, or that sends nothing for too long. */
const BROKEN_OFF = finalEvent(brokenOff)

/** Passes events line by line. A line that is cut at the end is left out. */
const eventsOf = (
  { stream }: HttpClientResponse.HttpClientResponse,
  idle: Duration.Duration,
  { called, dialect, model }: Names,
  conceal: Redactor
) =>
  Stream.suspend(() => {
    const pieces = conceal.stream()
    const guard = makeEventGuard(conceal.text)
    const named = called === model ? undefined : incomingEvents(called, model)
    const mapped = passesEvents(dialect) ? undefined : mapEventData((data) => interfaceEvent(dialect, data))
    const push = (bytes: Uint8Array) => {
      const concealed = pieces.push(bytes)
      const guarded = guard.push(mapped?.push(concealed) ?? concealed)
      return named === undefined ? guarded : named.push(guarded)
    }
    const rest = (broken: boolean) =>
      Stream.suspend(() => {
        const left = pieces.end()
        const last = mapped === undefined ? left : Buffer.concat([mapped.push(left), mapped.end()])
        const waiting = Buffer.concat([guard.push(last), guard.end()])
        const parts = named === undefined ? [waiting] : [named.push(waiting), named.end()]
        const wrong = !guard.isDone() && (broken || guard.isCut())
        return Stream.fromIterable(wrong ? [...parts, BROKEN_OFF] : parts)
      })
    return stream.pipe(
      // Chunks that arrive together pass together.
      Stream.mapArray((parts) => [push(parts.length === 1 ? parts[0] : Buffer.concat(parts))]),
      Stream.takeUntil(guard.isDone),
      Stream.concat(rest(false)),
      Stream.timeoutOrElse({ duration: idle, orElse: () => rest(true) }),
      Stream.catch(() => rest(true)),
      Stream.filter(({ length }) => length > 0)
    )
  })

/** A task reports its failure in a successful response. */
const concealed = (given: Buffer, { operation }: Names, conceal: Redactor): Buffer =>
  (operation === "images" || operation === "videos") && given.includes(ERROR)
    ? Buffer.from(conceal.text(given.toString("latin1")), "latin1")
    : conceal.bytes(given)

/** A JSON body without our credential and with the caller's name of the model; undefined if it is no JSON or an error. */
const passJson = (
  type: string,
  given: Buffer,
  names: Names,
  conceal: Redactor
): HttpServerResponse.HttpServerResponse | undefined => {
  if (!isJson(type) || errorIn(names, given) !== undefined) return undefined
  const { called, model } = names
  const contentType = conceal.text(type)
  const bytes = concealed(given, names, conceal)
  if (called === model && isPlainObject(bytes)) {
    return HttpServerResponse.uint8Array(bytes, { contentType })
  }
  const body = new TextDecoder().decode(bytes)
  return isObject(body)
    ? HttpServerResponse.text(incomingBody(body, called, model), { contentType })
    : undefined
}

export type Read = (
  response: HttpClientResponse.HttpClientResponse
) => Effect.Effect<HttpServerResponse.HttpServerResponse | NoAnswer, HttpClientError.HttpClientError>

/**
 * Passes a response on: JSON whole, events as they come. Of its headers only the content type is passed on. Anything
 * else, such as HTML or an error with status 200, is no answer.
 */
export const passOn =
  (idle: Duration.Duration, names: Names, conceal: Redactor): Read =>
  (response) => {
    const contentType = response.headers["content-type"] ?? ""
    if (isEventStream(contentType)) {
      return Effect.succeed(
        HttpServerResponse.stream(eventsOf(response, idle, names, conceal), {
          contentType: conceal.text(contentType)
        })
      )
    }
    return Effect.map(response.arrayBuffer, (body) => {
      const bytes = interfaceBody(names.dialect, names.operation, Buffer.from(body))
      return (
        passJson(contentType, bytes, names, conceal) ?? {
          contentType,
          error: isJson(contentType) && errorIn(names, bytes)
        }
      )
    })
  }

/** The time between two parts of a file. */
const STALLED = "60 seconds"

const stalled = () =>
  Stream.fail(
    new TimedOut({
      message: `Nothing more of the file came for ${STALLED}`,
      scope: "attempt",
      after: Duration.fromInputUnsafe(STALLED)
    })
  )

/** Passes a video on in chunks. One that stalls ends with a broken connection, so that it is not taken for complete. */
export const passFile: Read = (response) => {
  const contentType = response.headers["content-type"] ?? ""
  return Effect.succeed(
    /^(?:video\/|application\/octet-stream)/i.test(contentType)
      ? HttpServerResponse.stream(
          Stream.timeoutOrElse(response.stream, { duration: STALLED, orElse: stalled }),
          {
            contentType: "video/mp4",
            headers: { "cache-control": "private, no-store" }
          }
        )
      : { contentType, error: undefined }
  )
}

/** The interface does not say what a deletion responds: a status of 2xx is enough. */
export const passNothing: Read = () => Effect.succeed(HttpServerResponse.empty())

/** Other ids could not be used in a path. */
const isTaskId = Schema.is(TaskId)

/** The id of a task that a response starts; undefined if it has the images already. */
export const createdTask = (
  kind: "image" | "video",
  { body }: HttpServerResponse.HttpServerResponse
): { readonly id: string } | undefined => {
  if (body._tag !== "Uint8Array") return undefined
  try {
    const answer: unknown = JSON.parse(new TextDecoder().decode(body.body))
    if (kind === "image" && hasImages(answer)) return undefined
    const { id } = answer as { readonly id?: unknown }
    return isTaskId(id) ? { id } : undefined
  } catch {
    return undefined
  }
}

/** Whether a response without a task has its result: images may come at once, videos never do. */
export const hasResult = (
  kind: "image" | "video",
  { body }: HttpServerResponse.HttpServerResponse
): boolean =>
  kind === "image" && body._tag === "Uint8Array" && hasResultField("embeddings", Buffer.from(body.body))

/** A response that is no answer: its content type, and its error. */
export interface NoAnswer {
  readonly contentType: string
  readonly error: ErrorDetails | "nothing" | false | undefined
}
