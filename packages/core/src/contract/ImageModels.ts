/**
 * The calls of each group of image models. Types and checks at run time come from the same schemas.
 *
 * | group | models |
 * |---|---|
 * | I1 | multimodal input |
 * | I2 | text to image, without a reference image |
 * | I3 | text to image, and image editing |
 * | I4 | fuses several reference images, creates several images |
 * | I5 | two two-step models, and one that responds at once |
 * | I6 | an ultra-realistic model, an editor (erase, repaint, vary), and a fast model |
 *
 * Omit `group` if it is unknown: all fields of the interface are then accepted. Other fields go in `extra`.
 */
import { Result, Schema, type SchemaIssue } from "effect"
import { MAX_IMAGES, MAX_SEED } from "./ImageLimits.ts"
import { faultsOf } from "./Fields.ts"
import { InvalidRequest } from "./GatewayError.ts"

/** A local file. */
export interface LocalFile {
  readonly file: string
}

/**
 * An image to send.
 *
 * | value | meaning |
 * |---|---|
 * | `"https://…"` or a `URL` | an image that the gateway fetches; must be public |
 * | `"data:image/png;base64,…"` | a data URI |
 * | any other text | Base64, never a path |
 * | `Uint8Array` | the bytes |
 * | `{ file: "cat.png" }` | a local file, read by the client |
 *
 * **Details.** PNG, JPEG or WEBP by the first bytes, at most 20 MB decoded, with a readable size. URLs are not checked.
 */
export type ImageSource = string | URL | Uint8Array | LocalFile

/** The most reference and generated images of one call together, in group I4. */
const MAX_FUSED_IMAGES = 15

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

const undeclared = {
  /** Fields that the interface does not define, by their wire names. Sent unchanged. */
  extra: optional(Schema.Record(Schema.String, Schema.Json))
}

const common = {
  model: Schema.NonEmptyString,
  prompt: Schema.NonEmptyString,
  /** Default: `auto`. */
  size: optional(size(...SIZES)),
  /** The number of images, 1 to 10. Default: 1. */
  n: optional(oneOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)),
  quality: optional(oneOf(...QUALITIES)),
  ...undeclared
}

/** The groups that accept one reference image. */
const reference = { image: optional(Source) }

/** Multimodal input. One model accepts `hd`. */
const I1Call = Schema.Struct({
  group: Schema.Literal("I1"),
  ...common,
  ...reference,
  size: optional(size(...SIZES, "hd")),
  quality: optional(oneOf(...QUALITIES, "hd")),
  /** Similarity to the reference image. */
  inputFidelity: optional(oneOf("high", "low")),
  moderation: optional(oneOf("auto", "low")),
  outputFormat: optional(oneOf("png", "jpeg", "webp"))
})

/** Text to image, without a reference image. */
const I2Call = Schema.Struct({ group: Schema.Literal("I2"), ...common })

/** Text to image, and image editing. */
const I3Call = Schema.Struct({
  group: Schema.Literal("I3"),
  ...common,
  ...reference,
  /** 0 to 2147483647. */
  seed: optional(seed(0)),
  /** Default: true. */
  watermark: optional(Schema.Boolean)
})

/** Several images in and out, at most 15 together. Links expire after 24 hours. */
const I4Call = Schema.Struct({
  group: Schema.Literal("I4"),
  ...common,
  /** One, or several to fuse. */
  image: optional(Schema.Union([Source, Schema.Array(Source)])),
  /** -1 to 2147483647. */
  seed: optional(seed(-1)),
  watermark: optional(Schema.Boolean),
  /** `auto` lets the model create a series of images. */
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

/** Two two-step models, and one that responds at once. */
const I5Call = Schema.Struct({
  group: Schema.Literal("I5"),
  ...common,
  ...reference,
  /** 0, the strictest, to 5. Default: 2. */
  safetyTolerance: optional(oneOf(0, 1, 2, 3, 4, 5)),
  /** Width to height, such as `16:9`. */
  aspectRatio: optional(Schema.declare(isRatio, { expected: "a ratio such as 16:9" })),
  /** The same seed creates the same image. */
  seed: optional(Schema.Int),
  /** A more natural look. */
  raw: optional(Schema.Boolean)
})

/** An ultra-realistic model, an editor, and a fast model. */
const I6Call = Schema.Struct({ group: Schema.Literal("I6"), ...common, ...reference })

/**
 * A call of a model of unknown group, within the limits of the interface.
 *
 * If a `ModelCatalogue` is provided and has the model, the call is checked as one of its group.
 */
export const AnyImageCall = Schema.Struct({
  group: optional(Schema.Undefined),
  model: Schema.NonEmptyString,
  prompt: Schema.NonEmptyString,
  size: optional(Schema.NonEmptyString),
  /** 1 to 10. Default: 1. */
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
  /** Any integer: group I5 has no limits. */
  seed: optional(Schema.Int),
  raw: optional(Schema.Boolean),
  watermark: optional(Schema.Boolean),
  sequentialImageGeneration: optional(Schema.String),
  responseFormat: optional(Schema.String),
  ...undeclared
})
export type AnyImageCall = typeof AnyImageCall.Type

const CALLS = { I1: I1Call, I2: I2Call, I3: I3Call, I4: I4Call, I5: I5Call, I6: I6Call } as const

/** Images to create. `group` determines the types of the other fields. It is not sent. */
export type ImageCall = (typeof CALLS)[ImageGroup]["Type"] | AnyImageCall

/**
 * A call whose group, `n` or `size` is known only at run time, as a variable of type `ImageGroup`, `number` or `string`.
 *
 * The client checks it when it is made. Literal values are checked by the compiler, as in `ImageCall`.
 */
export type RuntimeImageCall<G extends ImageGroup, N extends number, S extends string> = Omit<
  (typeof CALLS)[G]["Type"],
  "group" | "n" | "size"
> & {
  readonly model: string
  readonly prompt: string
  readonly group: G
  readonly n?: (N & (number extends N ? number : (typeof CALLS)[G]["Type"]["n"])) | undefined
  readonly size?: (S & (string extends S ? string : (typeof CALLS)[G]["Type"]["size"])) | undefined
}

/** A group of image models, as the interface names it. */
export type ImageGroup = keyof typeof CALLS
export const IMAGE_GROUPS = Object.keys(CALLS) as ReadonlyArray<ImageGroup>

/** True if a value is a group of image models. */
export const isImageGroup = (word: unknown): word is ImageGroup =>
  IMAGE_GROUPS.some((known) => known === word)

/** The call, or an error if its group does not accept it. */
export const validateImageCall = (call: ImageCall): Result.Result<ImageCall, InvalidRequest> => {
  const { group }: { readonly group?: unknown } = call
  if (group !== undefined && !isImageGroup(group)) {
    const message = `${String(group)} is not a group of image models: ${IMAGE_GROUPS.join(", ")}. Omit it if it is unknown.`
    return Result.fail(new InvalidRequest({ message, param: "group" }))
  }
  const schema: Schema.Codec<ImageCall, unknown> = group === undefined ? AnyImageCall : CALLS[group]
  return Schema.decodeUnknownResult(schema)(call, { onExcessProperty: "error" }).pipe(
    Result.mapError(({ issue }) => refusal(group, issue))
  )
}

const refusal = (group: ImageGroup | undefined, issue: SchemaIssue.Issue) => {
  const [{ message: fault, path: param } = { message: "", path: "" }] = faultsOf(issue)
  const { fields } = group === undefined ? AnyImageCall : CALLS[group]
  const models = group === undefined ? "image models" : `group ${group}`
  const message = !Object.hasOwn(fields, param.split(".")[0] ?? "")
    ? `\`${param}\` is not a field of ${models}. The fields are ${Object.keys(fields).join(", ")}.`
    : `\`${param}\` is not valid for ${models}: ${fault}.`
  return new InvalidRequest({ message, param })
}
