/**
 * What each group of image models takes, as types; what types cannot say is refused before anything is sent.
 *
 * | group | models |
 * |---|---|
 * | I1 | multimodal input, among them a classic that makes realistic images from plain language |
 * | I2 | generation alone: no reference image |
 * | I3 | text to image, and image editing |
 * | I4 | several reference images fused, several images in one go |
 * | I5 | two that answer in two steps, one at once |
 * | I6 | an ultra-realistic one, one that erases, repaints and varies, a fast one |
 *
 * Of a model whose group is not known, leave `group` out: everything is taken that the interface knows. What it does not
 * know goes in `extra`, with a group or without.
 */
import { Result, Schema, SchemaIssue } from "effect"
import { MAX_IMAGES, MAX_SEED } from "./Images.ts"
import { InvalidRequest } from "./GatewayError.ts"

/** A file on this machine, by its path. */
export interface LocalFile {
  readonly file: string
}

/**
 * An image to send.
 *
 * | given | is |
 * |---|---|
 * | `"https://…"` or a `URL` | an image that the gateway fetches: it has to be publicly reachable |
 * | `"data:image/png;base64,…"` | a data URI |
 * | any other text | Base64, without a head |
 * | `Uint8Array` | the bytes themselves |
 * | `{ file: "cat.png" }` | a file on this machine, read by the client |
 *
 * **Details.** PNG, JPEG or WEBP by their first bytes, at most 20 MB decoded, of a size that can be read. What stands
 * behind a URL is not looked at.
 *
 * **Gotchas.** A path is never given as a plain text: that would be read as Base64.
 */
export type ImageSource = string | URL | Uint8Array | LocalFile

/** Reference images and images asked for, together, at most: group I4. */
export const MAX_FUSED_IMAGES = 15

const { optional } = Schema

const isSource = (u: unknown): u is ImageSource =>
  typeof u === "string" ||
  u instanceof URL ||
  u instanceof Uint8Array ||
  (typeof u === "object" && u !== null && "file" in u && typeof u.file === "string")

const Source = Schema.declare(isSource, {
  expected: "an image: a URL, a data URI, Base64, bytes or { file: path }"
})

type Pixels = `${number}x${number}`
type Ratio = `${number}:${number}`

const isPixels = (u: unknown): u is Pixels => typeof u === "string" && /^[1-9]\d{0,4}x[1-9]\d{0,4}$/.test(u)
const isRatio = (u: unknown): u is Ratio => typeof u === "string" && /^[1-9]\d{0,3}:[1-9]\d{0,3}$/.test(u)

const size = <const Name extends string>(...names: ReadonlyArray<Name>) =>
  Schema.declare((u): u is Name | Pixels => isPixels(u) || names.some((name) => name === u), {
    expected: `${names.join(", ")}, or pixels such as 1024x1024`
  })

const oneOf = <const Value extends string | number>(...values: ReadonlyArray<Value>) =>
  Schema.Literals(values).annotate({ expected: values.join(", ") })

const seed = (minimum: number) =>
  Schema.Int.check(
    Schema.isBetween({ minimum, maximum: MAX_SEED }, { expected: `${minimum} to ${MAX_SEED}` })
  )

const SIZES = ["1K", "2K", "4K", "auto"] as const
const QUALITIES = ["low", "medium", "high"] as const

const beside = {
  /** Fields that the interface does not name, by their names on the wire: sent beside the others as they are. */
  extra: optional(Schema.Record(Schema.String, Schema.Json))
}

const common = {
  /** As the lists of models give it. */
  model: Schema.NonEmptyString,
  prompt: Schema.NonEmptyString,
  /** `auto` when not given; pixels as `1024x1024`. */
  size: optional(size(...SIZES)),
  /** How many images, 1 to 10; 1 when not given. */
  n: optional(oneOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)),
  quality: optional(oneOf(...QUALITIES)),
  ...beside
}

/** Of groups that take one reference image. */
const reference = { image: optional(Source) }

/** Multimodal input. `hd` is taken by one model of the group. */
export const I1Call = Schema.Struct({
  group: Schema.Literal("I1"),
  ...common,
  ...reference,
  size: optional(size(...SIZES, "hd")),
  quality: optional(oneOf(...QUALITIES, "hd")),
  /** How closely the reference image is kept. */
  inputFidelity: optional(oneOf("high", "low")),
  moderation: optional(oneOf("auto", "low")),
  outputFormat: optional(oneOf("png", "jpeg", "webp"))
})
export type I1Call = typeof I1Call.Type

/** Generation alone: no reference image. */
export const I2Call = Schema.Struct({ group: Schema.Literal("I2"), ...common })
export type I2Call = typeof I2Call.Type

/** Text to image, and image editing. */
export const I3Call = Schema.Struct({
  group: Schema.Literal("I3"),
  ...common,
  ...reference,
  /** True when not given. */
  watermark: optional(Schema.Boolean),
  /** 0 to 2147483647. */
  seed: optional(seed(0))
})
export type I3Call = typeof I3Call.Type

/** Several images in, several out: at most 15 together. Links to its images last 24 hours. */
export const I4Call = Schema.Struct({
  group: Schema.Literal("I4"),
  ...common,
  /** One, or several that are fused. */
  image: optional(Schema.Union([Source, Schema.Array(Source)])),
  watermark: optional(Schema.Boolean),
  /** -1 to 2147483647. */
  seed: optional(seed(-1)),
  /** Whether the model may make a series of images. */
  sequentialImageGeneration: optional(oneOf("auto", "disabled")),
  responseFormat: optional(oneOf("url", "base64_json"))
}).check(
  Schema.makeFilter(({ image, n = 1 }) => {
    const given = Array.isArray(image) ? image.length : image === undefined ? 0 : 1
    return given + n <= MAX_FUSED_IMAGES
      ? undefined
      : {
          path: ["image"],
          issue: `Expected at most ${MAX_FUSED_IMAGES} reference and generated images together, got ${given} and ${n}`
        }
  })
)
export type I4Call = typeof I4Call.Type

/** Two models that answer in two steps, one at once. */
export const I5Call = Schema.Struct({
  group: Schema.Literal("I5"),
  ...common,
  ...reference,
  /** 0, the strictest, to 5; 2 when not given. */
  safetyTolerance: optional(oneOf(0, 1, 2, 3, 4, 5)),
  /** Width to height, such as `16:9`. */
  aspectRatio: optional(Schema.declare(isRatio, { expected: "a ratio such as 16:9" })),
  /** The same one gives the same image. */
  seed: optional(Schema.Int),
  /** A natural look. */
  raw: optional(Schema.Boolean)
})
export type I5Call = typeof I5Call.Type

/** An ultra-realistic model, one that erases, repaints and varies, a fast one. */
export const I6Call = Schema.Struct({ group: Schema.Literal("I6"), ...common, ...reference })
export type I6Call = typeof I6Call.Type

/**
 * For a model whose group is not known. The interface's own limits hold.
 *
 * Where the client, or the call, is provided a `ModelCatalogue` that knows the model, it is checked as one of its group.
 */
export const AnyImageCall = Schema.Struct({
  group: optional(Schema.Undefined),
  model: Schema.NonEmptyString,
  prompt: Schema.NonEmptyString,
  size: optional(Schema.NonEmptyString),
  /** 1 to 10; 1 when not given. */
  n: optional(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_IMAGES }, { expected: "1 to 10" }))
  ),
  quality: optional(Schema.NonEmptyString),
  image: optional(Schema.Union([Source, Schema.Array(Source)])),
  inputFidelity: optional(Schema.String),
  moderation: optional(Schema.String),
  outputFormat: optional(Schema.String),
  /** 0 to 5. */
  safetyTolerance: optional(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }, { expected: "0 to 5" }))
  ),
  aspectRatio: optional(Schema.String),
  /** -1 to 2147483647. */
  seed: optional(seed(-1)),
  raw: optional(Schema.Boolean),
  watermark: optional(Schema.Boolean),
  sequentialImageGeneration: optional(Schema.String),
  responseFormat: optional(Schema.String),
  ...beside
})
export type AnyImageCall = typeof AnyImageCall.Type

/**
 * What to make, for a model of a group, or for any model when `group` is left out.
 *
 * **Gotchas.** `group` says what the caller knows of the model; it is not sent, and the gateway does not check it.
 */
export type ImageCall = I1Call | I2Call | I3Call | I4Call | I5Call | I6Call | AnyImageCall

const CALLS = { I1: I1Call, I2: I2Call, I3: I3Call, I4: I4Call, I5: I5Call, I6: I6Call } as const

/** A group of image models, as the interface names them. */
export type ImageGroup = keyof typeof CALLS
/** All groups of image models. */
export const IMAGE_GROUPS = Object.keys(CALLS) as ReadonlyArray<ImageGroup>

/** Whether a word is a group of image models. */
export const isImageGroup = (word: unknown): word is ImageGroup =>
  IMAGE_GROUPS.some((known) => known === word)

/** The call if its group takes it, or what it takes instead. For callers whom no compiler has told. */
export const validateImageCall = (call: ImageCall): Result.Result<ImageCall, InvalidRequest> => {
  const { group }: { readonly group?: unknown } = call
  if (group !== undefined && !isImageGroup(group)) {
    const message = `There is no group ${String(group)}: ${IMAGE_GROUPS.join(", ")}, or none when it is not known.`
    return Result.fail(new InvalidRequest({ message, param: "group" }))
  }
  const schema: Schema.Codec<ImageCall, unknown> = group === undefined ? AnyImageCall : CALLS[group]
  return Schema.decodeUnknownResult(schema)(call, { onExcessProperty: "error" }).pipe(
    Result.mapError(({ issue }) => refusal(group, issue))
  )
}

const standard = SchemaIssue.makeFormatterStandardSchemaV1()

const refusal = (group: ImageGroup | undefined, issue: SchemaIssue.Issue) => {
  const [first] = standard(issue).issues
  const param = first?.path?.map(String).join(".")
  const { fields } = group === undefined ? AnyImageCall : CALLS[group]
  const whose = group === undefined ? "an image model" : `group ${group}`
  const message =
    param !== undefined && !Object.hasOwn(fields, param.split(".")[0] ?? "")
      ? `\`${param}\` is nothing that ${whose} takes. It takes ${Object.keys(fields).join(", ")}.`
      : `\`${param}\` is not what ${whose} takes: ${first?.message}.`
  return new InvalidRequest({ message, param })
}
