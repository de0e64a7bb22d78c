/** Requests for images and videos, whose fields vendors name and write differently. */
import { Effect, Struct } from "effect"
import type { ErrorFields, Fields, InterfaceRequest, OperationDialect } from "../protocol/Dialect.ts"
import { nonEmptyText, present } from "../protocol/JsonValues.ts"

/** The reference images of an image request. */
export const referenceImages = ({ image }: InterfaceRequest): ReadonlyArray<string> =>
  (Array.isArray(image) ? image : [image]).flatMap((one) => nonEmptyText(one) ?? [])

/** The first image of a video. Common clients send it in an object. */
export const firstFrame = ({ input_reference: given }: InterfaceRequest): string | undefined =>
  nonEmptyText(given) ?? nonEmptyText((given as Fields | null | undefined)?.["image_url"])

/** Base64 as a data URI. Links and data URIs stay. */
const linkOrDataUri = (image: string): string =>
  /^(?:https?|data|[\w-]+):/i.test(image) ? image : `data:image/${formatOf(image)};base64,${image}`

/** The format of an image by the start of its Base64. */
const formatOf = (base64: string): string =>
  base64.startsWith("/9j/") ? "jpeg" : base64.startsWith("UklGR") ? "webp" : "png"

/** A size: pixels, an aspect ratio such as `16:9`, lines such as `1080p`, or `2K`. */
interface MediaSize {
  readonly width?: number
  readonly height?: number
  readonly ratio?: string
  readonly resolution?: string
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

/** Ratios that no reduced fraction of common pixels is, by their pixels. */
const NAMED_RATIOS = ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21"]

/** Pixels count as a named ratio within this share: 1792x1024 is `16:9` for vendors. */
const NEAR = 0.03

const ratioOf = (width: number, height: number): string => {
  const near = NAMED_RATIOS.find((name) => {
    const [w = 1, h = 1] = name.split(":").map(Number)
    return Math.abs((width * h) / (height * w) - 1) < NEAR
  })
  const by = divisor(width, height)
  return near ?? `${width / by}:${height / by}`
}

/** The parts of `size`, and `aspect_ratio` if the request has it. */
const mediaSize = ({ aspect_ratio: aspect, size }: InterfaceRequest): MediaSize => {
  const text = nonEmptyText(size)?.toLowerCase()
  const given = nonEmptyText(aspect)
  const ratio = given === undefined ? {} : { ratio: given }
  const [, width, height] = /^(\d+)[x*](\d+)$/.exec(text ?? "") ?? []
  if (width !== undefined && height !== undefined) {
    const [w, h] = [Number(width), Number(height)]
    return { width: w, height: h, ratio: ratioOf(w, h), resolution: `${Math.min(w, h)}p`, ...ratio }
  }
  if (text === undefined || text === "auto") return ratio
  return /^\d+(?:p|k)$/.test(text) ? { resolution: text, ...ratio } : { ratio: text, ...ratio }
}

/** What a request asks for. */
export const mediaValues = (asked: InterfaceRequest) => {
  const { model, n, prompt, seconds, size } = asked
  const images = referenceImages(asked).map(linkOrDataUri)
  const frame = firstFrame(asked)
  return {
    ...mediaSize(asked),
    model,
    prompt,
    n,
    /** As it was sent. */
    size,
    seconds: seconds === undefined || seconds === null ? undefined : Number(seconds),
    /** The reference images as links or data URIs; undefined if there are none. */
    images: images.length === 0 ? undefined : images,
    /** The first image of a video as a link or a data URI. */
    frame: frame && linkOrDataUri(frame)
  }
}

export type MediaValues = ReturnType<typeof mediaValues>

/** The aspect ratio, or a size without one as it is, so that the vendor refuses it. */
export const ratioOrSize = ({ ratio, size }: MediaValues): unknown =>
  ratio ?? (size === "auto" ? undefined : size)

/** Fields of the interface that vendors name differently. The others are passed on, so that a vendor's own can be set. */
const MAPPED = [
  "model",
  "prompt",
  "size",
  "n",
  "image",
  "seconds",
  "input_reference",
  "aspect_ratio",
  "response_format",
  "user"
]

/** The vendor's fields, and those to pass on. The vendor's come last, so that none replaces what is billed. */
export const vendorFields = (asked: InterfaceRequest, fields: Fields): Fields =>
  present({ ...Struct.omit(asked as Fields, MAPPED), ...fields })

/** Refuses several images of a vendor that makes one per call. */
export const oneImage = (vendor: string, { n }: Pick<MediaValues, "n">): ErrorFields | undefined =>
  typeof n === "number" && n > 1
    ? { message: `${vendor} makes one image per call. Leave out \`n\``, param: "n" }
    : undefined

interface MediaOperation extends Pick<OperationDialect, "headers" | "response" | "task"> {
  readonly path: string | ((values: MediaValues) => string)
  /** Why the vendor cannot make it. */
  readonly refuse?: (values: MediaValues) => ErrorFields | undefined
  /** The fields that the vendor names or writes differently. */
  readonly fields: (values: MediaValues, asked: InterfaceRequest) => Fields
  /** Where the fields are in the body. Default: they are the body. */
  readonly body?: (fields: Fields, values: MediaValues) => Fields
}

/** An operation whose request needs no bytes of images. */
export const mediaOperation = ({
  body = (fields) => fields,
  fields,
  path,
  refuse,
  ...rest
}: MediaOperation): OperationDialect => ({
  ...rest,
  path: typeof path === "string" ? path : (asked) => path(mediaValues(asked)),
  request: (asked) => {
    const values = mediaValues(asked)
    const error = refuse?.(values)
    return error === undefined ? body(vendorFields(asked, fields(values, asked)), values) : Effect.fail(error)
  }
})
