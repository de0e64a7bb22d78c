/** What a video is asked for with: JSON, or multipart/form-data, as OpenAI's clients send it. */
import { encodeBase64, Failure, imageFormatOf, makeDataUri, mediaTypeOf, VideoRequest } from "@sluice/core"
import { Effect, Schema, SchemaIssue, Stream } from "effect"
import { HttpServerRequest, Multipart } from "effect/http"

/** The interface has five fields. */
const MAX_PARTS = 32

const refuse = (message: string, param?: string, status: 400 | 413 | 415 = 400) =>
  new Failure({ status, message, param, ...(status === 413 && { code: "too_large" }), retryable: false })

const unreadable = () =>
  refuse("The body could not be read: it is cut short, too large, or not what its content-type says")

/** Fields count as well as files. */
const faultOf = ({ reason: { _tag } }: Multipart.MultipartError) =>
  _tag === "BodyTooLarge" || _tag === "FileTooLarge" || _tag === "FieldTooLarge"
    ? refuse("The form is larger than what is read here: send a smaller image", undefined, 413)
    : unreadable()

const format = SchemaIssue.makeFormatterStandardSchemaV1()
const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(VideoRequest))

const checked = (fields: unknown) =>
  Effect.mapError(decode(fields), ({ issue }) => {
    const [first] = format(issue).issues
    const param = (first?.path ?? [])
      .map((step) => String(typeof step === "object" ? step.key : step))
      .join(".")
    const where = param === "" ? "The body" : `\`${param}\``
    return refuse(
      `${where} is not valid: ${first?.message ?? "it does not fit"}`,
      param === "" ? undefined : param
    )
  })

/** A file as the interface has images in JSON; what it is, its bytes say. */
const imageText = (bytes: Uint8Array): string => {
  const known = imageFormatOf(bytes)
  return known === undefined ? encodeBase64(bytes) : makeDataUri(mediaTypeOf(known), bytes)
}

/** `input_reference` is a file; or fields such as `input_reference[image_url]` make an object. */
const fieldsOf = (parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>) =>
  Effect.gen(function* () {
    const fields = new Map<string, unknown>()
    const inside = new Map<string, string>()
    let count = 0
    yield* Stream.runForEach(parts, (part) =>
      Effect.gen(function* () {
        count += 1
        if (count > MAX_PARTS) return yield* refuse(`The form has more than ${MAX_PARTS} parts`)
        const [, key] = /^input_reference\[(\w{1,40})\]$/.exec(part.key) ?? []
        const value = Multipart.isFile(part)
          ? imageText(yield* Effect.mapError(part.contentEffect, faultOf))
          : part.value
        if (key === undefined) fields.set(part.key, value)
        else inside.set(key, value)
      })
    )
    if (inside.size > 0) fields.set("input_reference", Object.fromEntries(inside))
    return Object.fromEntries(fields)
  }).pipe(Effect.mapError((error) => (error instanceof Failure ? error : faultOf(error))))

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The request, and its body as JSON for whoever passes it on. */
export const videoForm = Effect.gen(function* () {
  const http = yield* HttpServerRequest.HttpServerRequest
  const type = http.headers["content-type"] ?? ""
  if (/^multipart\/form-data\b/i.test(type)) {
    const fields = yield* fieldsOf(http.multipartStream)
    return { request: yield* checked(fields), body: JSON.stringify(fields) }
  }
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    return yield* refuse("A video is asked for in application/json or multipart/form-data", undefined, 415)
  }
  const body = yield* Effect.mapError(http.text, unreadable)
  const fields = parse(body)
  if (fields === undefined) return yield* refuse("The body is not JSON")
  return { request: yield* checked(fields), body }
})
