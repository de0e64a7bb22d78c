/** Requests for images and videos: JSON, or multipart/form-data as OpenAI's clients send it. */
import { encodeBase64, Failure, describeIssue } from "@sluice/core/contract"
import { imageFormatOf, makeDataUri, mediaTypeOf } from "@sluice/core/media"
import { parseJson } from "@sluice/core/client"
import { Effect, Schema, SchemaIssue, Stream } from "effect"
import { HttpServerRequest, Multipart } from "effect/http"

/** Parts of a form at most. The longest request of the interface has 15 images and 14 other fields. */
const MAX_PARTS = 48

/** Maps the parts of a form to the fields of the request. */
export type FromParts = (
  parts: ReadonlyArray<readonly [name: string, value: string]>
) => Record<string, unknown>

const refuse = (message: string, param?: string, status: 400 | 413 | 415 = 400) =>
  new Failure({ status, message, param, ...(status === 413 && { code: "too_large" }) })

const unreadable = () =>
  refuse("The body could not be read: it is cut short, too large, or not what its content-type says")

/** Fields have the same limit as files. */
const faultOf = ({ reason: { _tag } }: Multipart.MultipartError) =>
  _tag === "BodyTooLarge" || _tag === "FileTooLarge" || _tag === "FieldTooLarge"
    ? refuse("The form is larger than what is read here: send a smaller image", undefined, 413)
    : unreadable()

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const refusalOf = (issue: SchemaIssue.Issue): Failure => {
  const [first] = format(issue).issues
  const param = (first?.path ?? [])
    .map((step) => String(typeof step === "object" ? step.key : step))
    .join(".")
  const where = param === "" ? "The body" : `\`${param}\``
  return refuse(describeIssue(where, first?.message), param === "" ? undefined : param)
}

/** The fields that are images. */
const IMAGES = /^(?:image|input_reference)(?:\[|$)/

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** A file as a JSON value: images as data URIs by their bytes, anything else as text. */
const fileText = (name: string, bytes: Uint8Array) => {
  const known = imageFormatOf(bytes)
  if (known !== undefined) return Effect.succeed(makeDataUri(mediaTypeOf(known), bytes))
  if (IMAGES.test(name)) return Effect.succeed(encodeBase64(bytes))
  return Effect.try({
    try: () => utf8.decode(bytes),
    catch: () => refuse(`\`${name}\` is a file that is neither an image nor UTF-8: send it as text`, name)
  })
}

const partsOf = (stream: Stream.Stream<Multipart.Part, Multipart.MultipartError>) =>
  Effect.gen(function* () {
    const parts: Array<readonly [string, string]> = []
    yield* Stream.runForEach(stream, (part) =>
      Effect.gen(function* () {
        if (parts.length === MAX_PARTS) return yield* refuse(`The form has more than ${MAX_PARTS} parts`)
        const text = Multipart.isFile(part)
          ? yield* fileText(part.key, yield* Effect.mapError(part.contentEffect, faultOf))
          : part.value
        parts.push([part.key, text])
      })
    )
    return parts
  }).pipe(Effect.mapError((error) => (error instanceof Failure ? error : faultOf(error))))

/** The field may have several images. `a[b]` is a part of `a`. */
const SEVERAL = /^image(?:\[\])?$/
const ownerOf = (name: string): string => name.replace(/\[\w+\]$/, "")

/** The name of a part that occurs twice, which is refused as in JSON. */
const twiceIn = (parts: ReadonlyArray<readonly [name: string, value: string]>): string | undefined => {
  const names = parts.map(([name]) => name).filter((name) => !SEVERAL.test(name))
  return names.find((name, at) =>
    names.slice(0, at).some((other) => [other, ownerOf(other)].includes(name) || other === ownerOf(name))
  )
}

/** The request, and its body as JSON to pass on. */
export const mediaForm = <A, I>(schema: Schema.Codec<A, I>, fromParts: FromParts) => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema))
  const checked = (fields: unknown) => Effect.mapError(decode(fields), ({ issue }) => refusalOf(issue))
  return Effect.gen(function* () {
    const http = yield* HttpServerRequest.HttpServerRequest
    const type = http.headers["content-type"] ?? ""
    if (/^multipart\/form-data\b/i.test(type)) {
      const parts = yield* partsOf(http.multipartStream)
      const twice = twiceIn(parts)?.slice(0, 64)
      if (twice !== undefined) {
        return yield* refuse(`\`${twice}\` stands twice in the form: send it once`, twice)
      }
      const fields = fromParts(parts)
      return { request: yield* checked(fields), body: JSON.stringify(fields) }
    }
    if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
      return yield* refuse("This is asked for in application/json or multipart/form-data", undefined, 415)
    }
    const body = yield* Effect.mapError(http.text, unreadable)
    const fields = parseJson(body)
    if (fields === undefined) return yield* refuse("The body is not JSON")
    return { request: yield* checked(fields), body }
  })
}
