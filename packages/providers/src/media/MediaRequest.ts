/** Reads the fields of requests for images and videos, which vendors name and write differently. */
import { Effect } from "effect"
import type { ErrorFields, Fields, InterfaceRequest } from "../protocol/Dialect.ts"
import { present } from "../text/Values.ts"

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** The reference images of an image request. */
export const referenceImages = ({ image }: InterfaceRequest): ReadonlyArray<string> =>
  (Array.isArray(image) ? image : [image]).flatMap((one) => textOf(one) ?? [])

/** The first image of a video. Common clients send it in an object. */
export const firstFrame = ({ input_reference: given }: InterfaceRequest): string | undefined =>
  textOf(given) ?? textOf((given as Fields | null | undefined)?.["image_url"])

/** Base64 as a data URI. Links and data URIs stay. */
export const linkOrDataUri = (image: string): string =>
  /^(?:https?|data|[\w-]+):/i.test(image) ? image : `data:image/${formatOf(image)};base64,${image}`

/** The format of an image by the start of its Base64. */
const formatOf = (base64: string): string =>
  base64.startsWith("/9j/") ? "jpeg" : base64.startsWith("UklGR") ? "webp" : "png"

/** A size: pixels, an aspect ratio, lines such as `1080p`, or `2K`. */
export interface MediaSize {
  readonly width?: number
  readonly height?: number
  /** `16:9`. */
  readonly ratio?: string
  /** `720p`, `1080p`, `4k`. */
  readonly resolution?: string
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))

/** Ratios that no reduced fraction of common pixels is, by their pixels. */
const NAMED_RATIOS: ReadonlyArray<readonly [ratio: string, value: number]> = [
  ["1:1", 1],
  ["16:9", 16 / 9],
  ["9:16", 9 / 16],
  ["4:3", 4 / 3],
  ["3:4", 3 / 4],
  ["3:2", 3 / 2],
  ["2:3", 2 / 3],
  ["21:9", 21 / 9],
  ["9:21", 9 / 21]
]

/** Pixels count as a named ratio within this share: 1792x1024 is `16:9` for vendors. */
const NEAR = 0.03

const ratioOf = (width: number, height: number): string => {
  const value = width / height
  const named = NAMED_RATIOS.find(([, known]) => Math.abs(value / known - 1) < NEAR)
  const by = divisor(width, height)
  return named?.[0] ?? `${width / by}:${height / by}`
}

/** The parts of `size`, and `aspect_ratio` if the request has it. */
export const mediaSize = ({ aspect_ratio: aspect, size }: InterfaceRequest): MediaSize => {
  const text = textOf(size)?.toLowerCase()
  const given = textOf(aspect)
  const ratio = given === undefined ? {} : { ratio: given }
  const [, width, height] = /^(\d+)[x*](\d+)$/.exec(text ?? "") ?? []
  if (width !== undefined && height !== undefined) {
    const [w, h] = [Number(width), Number(height)]
    return { width: w, height: h, ratio: ratioOf(w, h), resolution: `${Math.min(w, h)}p`, ...ratio }
  }
  if (text === undefined || text === "auto") return ratio
  return /^\d+(?:p|k)$/.test(text) ? { resolution: text, ...ratio } : { ratio: text, ...ratio }
}

/** The aspect ratio, or a size without one as it is, so that the vendor refuses it. */
export const ratioOrSize = (asked: InterfaceRequest): unknown =>
  mediaSize(asked).ratio ?? (asked["size"] === "auto" ? undefined : asked["size"])

/** Fields of the interface that vendors name differently. The others are passed on, so that a vendor's own can be set. */
const MAPPED: ReadonlySet<string> = new Set([
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
])

/** The vendor's fields, and those to pass on. The vendor's come last, so that none replaces what is billed. */
export const vendorFields = (asked: InterfaceRequest, fields: Fields): Fields =>
  present({ ...Object.fromEntries(Object.entries(asked).filter(([name]) => !MAPPED.has(name))), ...fields })

/** `seconds` as a number. */
export const secondsOf = ({ seconds }: InterfaceRequest): number | undefined =>
  seconds === undefined || seconds === null ? undefined : Number(seconds)

/** The body, unless the request is for several images of a vendor that makes one per call. */
export const oneImage = (
  vendor: string,
  { n }: InterfaceRequest,
  body: Fields
): Fields | Effect.Effect<never, ErrorFields> =>
  typeof n === "number" && n > 1
    ? Effect.fail({ message: `${vendor} makes one image per call. Leave out \`n\``, param: "n" })
    : body
