/** Reads fields of a response, whether it is a value or the bytes of an upstream. */
import { parseErrorField, parseJson, parseTask, taskEnd, tolerateImages } from "@sluice/core/client"
import { Predicate } from "effect"
import { HttpServerResponse } from "effect/http"

/** A field of a body. In decoded bodies, fields that the contract does not know are in `extra`. */
export const fieldOf = (body: unknown, name: string): unknown => {
  if (!Predicate.isObject(body)) return undefined
  const { [name]: value, extra } = body
  return value === undefined && Predicate.isObject(extra) ? extra[name] : value
}

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/** The error that OpenRouter has inside of each choice, with `finish_reason: "error"`. */
export const choiceError = (body: unknown): unknown => {
  const errors = listOf(fieldOf(body, "choices")).map((choice) => fieldOf(choice, "error"))
  return errors.every((error) => parseErrorField(error) !== undefined) ? errors[0] : undefined
}

/** Bytes of a body above which only its `usage` is parsed. */
const LARGE = 64 * 1024

/** Quotes inside strings are escaped, so this is a key. */
const USAGE = '"usage"'

/** The value of the last `usage`, if it is an object without nested objects. */
const usageAtEnd = (bytes: Buffer): unknown => {
  const at = bytes.lastIndexOf(USAGE)
  if (at < 0) return undefined
  const text = bytes.subarray(at + USAGE.length, at + USAGE.length + 2000).toString()
  return parseJson(/^\s*:\s*(\{[^{}]*\})/.exec(text)?.[1] ?? "")
}

/** The body as a value; undefined for a stream. With `"usage"`, only that field of a large body is parsed. */
export const responseBody = (response: unknown, part: "usage" | "all" = "usage"): unknown => {
  if (!HttpServerResponse.isHttpServerResponse(response)) return response
  if (response.body._tag !== "Uint8Array") return undefined
  const { buffer, byteLength, byteOffset } = response.body.body
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const tail = part === "usage" && bytes.length > LARGE ? usageAtEnd(bytes) : undefined
  if (tail !== undefined) return { usage: tail }
  return parseTask(bytes.toString())
}

/** The fields that may have an image. */
const IMAGE_FIELDS = ["url", "b64_json", "base64_json"]

const isImage = (image: unknown): boolean => IMAGE_FIELDS.some((name) => isText(fieldOf(image, name)))

/** An image in a gateway's own format: a text, or an object with other fields of which one is a text. */
const isOtherImage = (image: unknown): boolean =>
  isText(image) ||
  (Predicate.isObject(image) &&
    !IMAGE_FIELDS.some((name) => name in image) &&
    Object.values(image).some(isText))

/** The number of images in a body; undefined if `data` is not a list. */
export const imagesIn = (body: unknown): number | undefined => {
  const data = fieldOf(body, "data")
  return Array.isArray(data)
    ? data.filter((image) => isImage(image) || isOtherImage(image)).length
    : undefined
}

/** Whether a body has images. A body without images and with an id starts a task. */
export const hasImages = (body: unknown): boolean => listOf(fieldOf(body, "data")).some(isImage)

/** The body of images, or of a task of images or videos, in the contract's form. */
export const mediaBody = (response: unknown): unknown => tolerateImages(responseBody(response, "all"))

/** Whether a task has succeeded or failed, by its status or its error; undefined while it runs. */
export const taskOutcome = (response: unknown): boolean | undefined => {
  const body = mediaBody(response)
  const status = fieldOf(body, "status")
  const end = taskEnd({
    status: isText(status) ? status : undefined,
    error: hasImages(body) ? undefined : fieldOf(body, "error")
  })
  return end && end === "completed"
}
