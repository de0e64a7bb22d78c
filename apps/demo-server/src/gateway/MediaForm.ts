/** Requests for images and videos, as JSON, or as multipart/form-data from OpenAI's clients. */
import { encodeBase64, Failure, malformedRequest, MAX_IMAGE_BYTES } from "@sluice/core/contract"
import { imageFormatOf, makeDataUri, mediaTypeOf } from "@sluice/core/media"
import { parseJson } from "@sluice/core/client"
import { Effect, Schema, Stream } from "effect"
import { HttpServerRequest, Multipart } from "effect/http"
import { type CallerInfo, CurrentCaller } from "../accounts/Caller.ts"
import { yieldIfLarge } from "../http/BodyParts.ts"

/** Parts of a form at most. The longest request of the interface has 15 images and 14 other fields. */
const MAX_PARTS = 48

/** Maps the parts of a form to the fields of the request. */
export type FromParts = (
  parts: ReadonlyArray<readonly [name: string, value: string]>
) => Record<string, unknown>

const refuse = (message: string, param?: string, status: 400 | 413 | 415 = 400) =>
  new Failure({ status, message, param, ...(status === 413 && { code: "too_large" }) })

const unreadable = () =>
  refuse("The body cannot be read. It is incomplete, too large, or does not match its content-type")

const formFailure = ({ reason: { _tag } }: Multipart.MultipartError) =>
  _tag === "BodyTooLarge" || _tag === "FileTooLarge" || _tag === "FieldTooLarge"
    ? refuse("The form is too large. Send a smaller image", undefined, 413)
    : unreadable()

/** The names of fields that are images. */
const IMAGES = /^(?:image|input_reference)(?:\[|$)/

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** A file as a JSON value: a data URI for an image, or else text. */
const fileText = (name: string, bytes: Uint8Array) => {
  // Base64 of it would keep the thread busy, only to be rejected.
  if (bytes.length > MAX_IMAGE_BYTES) {
    const message = `The file \`${name}\` has more than 20 MB. Send a smaller one`
    return Effect.fail(refuse(message, name, 413))
  }
  const known = imageFormatOf(bytes)
  if (known !== undefined) return Effect.succeed(makeDataUri(mediaTypeOf(known), bytes))
  if (IMAGES.test(name)) return Effect.succeed(encodeBase64(bytes))
  return Effect.try({
    try: () => utf8.decode(bytes),
    catch: () => refuse(`The file \`${name}\` is neither an image nor UTF-8 text`, name)
  })
}

const partsOf = (stream: Stream.Stream<Multipart.Part, Multipart.MultipartError>) =>
  Effect.gen(function* () {
    const parts: Array<readonly [string, string]> = []
    yield* Stream.runForEach(stream, (part) =>
      Effect.gen(function* () {
        if (parts.length === MAX_PARTS) return yield* refuse(`The form has more than ${MAX_PARTS} parts`)
        const text = Multipart.isFile(part)
          ? yield* fileText(part.key, yield* Effect.mapError(part.contentEffect, formFailure))
          : part.value
        parts.push([part.key, text])
      })
    )
    return parts
  }).pipe(Effect.mapError((error) => (error instanceof Failure ? error : formFailure(error))))

/** The field that may have several parts. */
const REPEATABLE = /^image(?:\[\])?$/

/** `a[b]` is a field of `a`. */
const parentOf = (name: string): string => name.replace(/\[\w+\]$/, "")

/** The name of a repeated part. Like repeated names in JSON, it is rejected. */
const repeatedName = (parts: ReadonlyArray<readonly [name: string, value: string]>): string | undefined => {
  const names = parts.map(([name]) => name).filter((name) => !REPEATABLE.test(name))
  return names.find((name, at) =>
    names.slice(0, at).some((other) => [other, parentOf(other)].includes(name) || other === parentOf(name))
  )
}

/** The decoded request, and its body as JSON to pass on. */
export const mediaForm = <A, I>(schema: Schema.Codec<A, I>, fromParts: FromParts) => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema))
  const checked = (fields: unknown) =>
    Effect.mapError(decode(fields), ({ issue }) => malformedRequest("body", issue))
  return Effect.gen(function* () {
    const http = yield* HttpServerRequest.HttpServerRequest
    const type = http.headers["content-type"] ?? ""
    if (/^multipart\/form-data\b/i.test(type)) {
      const parts = yield* partsOf(http.multipartStream)
      const repeated = repeatedName(parts)?.slice(0, 64)
      if (repeated !== undefined) {
        return yield* refuse(`The form has \`${repeated}\` twice. Send it once`, repeated)
      }
      const fields = fromParts(parts)
      const body = JSON.stringify(fields)
      yield* yieldIfLarge(body)
      return { request: yield* checked(fields), body }
    }
    if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
      return yield* refuse("Send the request as application/json or multipart/form-data", undefined, 415)
    }
    const body = yield* Effect.mapError(http.text, unreadable)
    yield* yieldIfLarge(body)
    const fields = parseJson(body)
    if (fields === undefined) return yield* refuse("The body is not JSON")
    yield* yieldIfLarge(body)
    return { request: yield* checked(fields), body }
  })
}

/** Handles a creation. Only reading the request can be interrupted, because what is being created is charged. */
export const handleCreation =
  <Request, E, R, Response, E2, R2>(
    form: Effect.Effect<{ readonly request: Request; readonly body: string }, E, R>,
    create: (
      http: HttpServerRequest.HttpServerRequest,
      caller: CallerInfo,
      request: Request,
      body: string
    ) => Effect.Effect<Response, E2, R2>
  ) =>
  ({ request: http }: { readonly request: HttpServerRequest.HttpServerRequest }) =>
    Effect.gen(function* () {
      const { body, request } = yield* Effect.interruptible(form)
      return yield* create(http, yield* CurrentCaller, request, body)
    })
