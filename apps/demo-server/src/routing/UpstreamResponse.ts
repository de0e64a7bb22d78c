/** What an upstream answers, on its way to the caller: nobody decodes it. */
import { Failure } from "@sluice/core/contract"
import { TimedOut } from "@sluice/core"
import { TaskId, type Told, toldIn } from "@sluice/core/client"
import { Duration, Effect, Schema, Stream } from "effect"
import { type HttpClientError, type HttpClientResponse, HttpServerResponse } from "effect/http"
import type { Redactor } from "./RedactCredential.ts"
import { makeEventGuard } from "./EventGuard.ts"
import { hasResultField, RESULT_FIELDS } from "./ExpectedFields.ts"
import { finalEvent } from "../wire/FinalEvent.ts"
import type { Dialect } from "./dialects/Dialect.ts"
import { interfaceBody, interfaceEvent, passesEvents } from "./dialects/DialectResponse.ts"
import { incomingBody, incomingEvents, mapEvents } from "./ModelName.ts"
import type { Operations } from "./Provider.ts"
import { hasImages } from "./ResponseBody.ts"

const isEventStream = (type: string): boolean => /^text\/event-stream/i.test(type)
const isJson = (type: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)

/** Every answer of the contract is an object: cut or garbled ones are told apart without reading what is in them. */
const isObject = (body: string): boolean => {
  const text = body.trim()
  return text.startsWith("{") && text.endsWith("}")
}

const [BRACE, CLOSED, NEWLINE] = Buffer.from("{}\n")

/** The same of bytes that have no more around it than a line's end. */
const isPlainObject = (bytes: Buffer): boolean =>
  bytes[0] === BRACE && bytes[bytes.length - (bytes.at(-1) === NEWLINE ? 2 : 1)] === CLOSED

/** An error is short. */
const ERROR_BYTES = 64 * 1024
const ERROR = Buffer.from('"error"')

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

/** Some gateways send an error with all fields of an answer, empty; and others the status, as a number. */
const isGiven = (value: unknown): boolean =>
  typeof value === "string" || Array.isArray(value) ? value.length > 0 : fieldsOf(value) !== undefined

/** Of a call that makes nothing which can be asked for later, no more than its answer comes. */
const isMeant = ({ mayBeEmpty, operation }: Names, answer: Fields): boolean =>
  operation === "images" ||
  operation === "videos" ||
  (mayBeEmpty && RESULT_FIELDS[operation].some((name) => Array.isArray(answer[name])))

/**
 * What went wrong, as some gateways tell it with status 200: an `error`, or `success: false`, in place of what was asked
 * for; or that of this there is nothing.
 */
const errorIn = (names: Names, bytes: Buffer): Told | "nothing" | undefined => {
  const { operation } = names
  const isThere = hasResultField(operation, bytes)
  if (isThere && (bytes.length > ERROR_BYTES || !bytes.includes(ERROR))) return undefined
  try {
    const answer = fieldsOf(JSON.parse(bytes.toString()))
    // What was asked for an error beside it does not take back.
    if (answer === undefined || RESULT_FIELDS[operation].some((name) => isGiven(answer[name])))
      return undefined
    const told = toldIn({ error: answer["error"] }) ?? (isThere ? undefined : toldIn(answer))
    if (told !== undefined && told.code !== "0") return told
    return isMeant(names, answer) ? undefined : "nothing"
  } catch {
    return undefined
  }
}

/** The names of a model: the caller's and the upstream's; and what it is asked for. */
export interface Names {
  readonly operation: keyof Operations
  readonly called: string
  readonly model: string
  /** Nothing was asked for, as `top_n: 0` does. */
  readonly mayBeEmpty: boolean
  readonly dialect: Dialect
}

const { body: brokenOff } = new Failure({
  status: 502,
  message: "The gateway's stream broke off: ask again",
  code: "upstream_broke_off",
  retryable: true
})

/** Ends a stream that breaks off, or from which nothing comes for too long. */
const BROKEN_OFF = finalEvent(brokenOff)

/** Events line by line as they come; the last, where it is cut, is none. */
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
    const mapped = passesEvents(dialect) ? undefined : mapEvents((data) => interfaceEvent(dialect, data))
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
      // What came together is one part: all of it passes before anybody asks whether it was the last.
      Stream.mapArray((parts) => [push(parts.length === 1 ? parts[0] : Buffer.concat(parts))]),
      Stream.takeUntil(guard.isDone),
      Stream.concat(rest(false)),
      Stream.timeoutOrElse({ duration: idle, orElse: () => rest(true) }),
      Stream.catch(() => rest(true)),
      Stream.filter(({ length }) => length > 0)
    )
  })

/** A task tells of its failure in an answer as any other. */
const concealed = (given: Buffer, { operation }: Names, conceal: Redactor): Buffer =>
  (operation === "images" || operation === "videos") && given.includes(ERROR)
    ? Buffer.from(conceal.text(given.toString("latin1")), "latin1")
    : conceal.bytes(given)

/**
 * JSON as it came, without our credential and with the model's name that the caller knows; undefined where it is none, or
 * an error.
 */
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
 * What the gateway answered, as it is: JSON whole, events as they come. Of its headers only the content type travels
 * on; anything else, a page of HTML or an error with status 200 among it, is no answer.
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

/** Between two parts of a file. */
const STALLED = "60 seconds"

const stalled = () =>
  Stream.fail(
    new TimedOut({
      message: `Nothing more of the file came for ${STALLED}`,
      scope: "attempt",
      after: Duration.fromInputUnsafe(STALLED)
    })
  )

/** A video, byte by byte as it comes; one that stops coming ends with a broken connection, not as if it were whole. */
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

/** What a removal answers, the interface does not say: that it was no refusal is enough. */
export const passNothing: Read = () => Effect.succeed(HttpServerResponse.empty())

/** Another could be in no path by which its task is asked for. */
const isTaskId = Schema.is(TaskId)

/** The id of a task that an answer begins; none where it has the images that were asked for already. */
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

/** Whether an answer that begins no task has what was asked for: images may be there at once, a video never is. */
export const hasResult = (
  kind: "image" | "video",
  { body }: HttpServerResponse.HttpServerResponse
): boolean =>
  kind === "image" && body._tag === "Uint8Array" && hasResultField("embeddings", Buffer.from(body.body))

/** An answer that is none: what it says of itself, and what of it is an error. */
export interface NoAnswer {
  readonly contentType: string
  readonly error: Told | "nothing" | false | undefined
}
