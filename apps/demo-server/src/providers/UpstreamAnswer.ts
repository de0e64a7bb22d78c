/** What an upstream answers, on its way to the caller: nobody decodes it. */
import { Failure, TimedOut } from "@sluice/core"
import { type Told, toldIn } from "@sluice/core/client"
import { Duration, Effect, Stream } from "effect"
import { type HttpClientError, type HttpClientResponse, HttpServerResponse } from "effect/http"
import { incomingBody, incomingEvents } from "./ModelName.ts"
import type { Operations } from "./Provider.ts"

const isEventStream = (type: string): boolean => type.startsWith("text/event-stream")
const isJson = (type: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b/.test(type)

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

/** What an error beside does not take back: what was asked for, and of a call that makes a task its id or its state. */
const GIVEN: Readonly<Record<keyof Operations, ReadonlyArray<string>>> = {
  chat: ["choices"],
  embeddings: ["data"],
  rerank: ["results"],
  images: ["data", "id", "status"],
  videos: ["id", "status"]
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

/** Some gateways send an error with all fields of an answer, empty; and others the status, as a number. */
const isGiven = (value: unknown): boolean =>
  typeof value === "string" || Array.isArray(value) ? value.length > 0 : fieldsOf(value) !== undefined

/** What went wrong, as some gateways tell it with status 200: an `error` in place of what was asked for. */
const errorIn = (operation: keyof Operations, bytes: Buffer): Told | undefined => {
  if (bytes.length > ERROR_BYTES || !bytes.includes(ERROR)) return undefined
  try {
    const answer = fieldsOf(JSON.parse(bytes.toString()))
    if (answer === undefined || GIVEN[operation].some((name) => isGiven(answer[name]))) return undefined
    const told = toldIn({ error: answer["error"] })
    return told?.code === "0" ? undefined : told
  } catch {
    return undefined
  }
}

/** The names of a model: the caller's and the upstream's; and what it is asked for. */
export interface Names {
  readonly operation: keyof Operations
  readonly called: string
  readonly model: string
}

/** A stream that breaks off, or from which nothing comes for too long, ends in an error event. */
const brokenOff = Stream.suspend(() => {
  const message = "The gateway's stream broke off: ask again"
  const { body } = new Failure({ status: 502, message, code: "upstream_broke_off", retryable: true })
  return Stream.make(new TextEncoder().encode(`data: ${JSON.stringify(body)}\n\n`))
})

/** Events as they come, not one byte later; only where the model has two names are lines looked at. */
const eventsOf = (
  { stream }: HttpClientResponse.HttpClientResponse,
  idle: Duration.Duration,
  { called, model }: Names
) => {
  const bytes = stream.pipe(
    Stream.timeoutOrElse({ duration: idle, orElse: () => brokenOff }),
    Stream.catch(() => brokenOff)
  )
  if (called === model) return bytes
  return Stream.suspend(() => {
    const events = incomingEvents(called, model)
    return bytes.pipe(
      Stream.map(events.push),
      Stream.concat(Stream.sync(events.end)),
      Stream.filter(({ length }) => length > 0)
    )
  })
}

/** JSON as it came, with the model's name that the caller knows; undefined where it is none, or an error. */
export const passJson = (
  contentType: string,
  bytes: Buffer,
  { called, model, operation }: Names
): HttpServerResponse.HttpServerResponse | undefined => {
  if (!isJson(contentType) || errorIn(operation, bytes) !== undefined) return undefined
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
  (idle: Duration.Duration, names: Names): Read =>
  (response) => {
    const contentType = response.headers["content-type"] ?? ""
    if (isEventStream(contentType)) {
      return Effect.succeed(HttpServerResponse.stream(eventsOf(response, idle, names), { contentType }))
    }
    return Effect.map(response.arrayBuffer, (body) => {
      const bytes = Buffer.from(body)
      return (
        passJson(contentType, bytes, names) ?? {
          contentType,
          error: isJson(contentType) && errorIn(names.operation, bytes)
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
    /^(?:video\/|application\/octet-stream)/.test(contentType)
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

/** The id of a task that an answer begins; none where it has what was asked for already. */
export const beginning = ({
  body
}: HttpServerResponse.HttpServerResponse): { readonly id: string } | undefined => {
  if (body._tag !== "Uint8Array") return undefined
  try {
    const answer: unknown = JSON.parse(new TextDecoder().decode(body.body))
    const { id } = answer as { readonly id?: unknown }
    return typeof id === "string" && id !== "" ? { id } : undefined
  } catch {
    return undefined
  }
}

/** An answer that is none: what it says of itself, and what of it is an error. */
export interface NoAnswer {
  readonly contentType: string
  readonly error: Told | false | undefined
}
