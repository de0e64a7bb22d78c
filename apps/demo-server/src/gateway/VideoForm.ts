/** Video requests, as JSON or as a form. */
import { Failure, VideoRequest } from "@sluice/core/contract"
import { Effect, type Schema } from "effect"
import { checkImages } from "./GivenImages.ts"
import { type FromParts, mediaForm } from "./MediaForm.ts"

/** Fields such as `input_reference[image_url]` form an object. */
const fromParts: FromParts = (parts) => {
  const fields = new Map<string, unknown>()
  const inside = new Map<string, string>()
  for (const [name, value] of parts) {
    const [, key] = /^input_reference\[(\w{1,40})\]$/.exec(name) ?? []
    if (key === undefined) fields.set(name, value)
    else inside.set(key, value)
  }
  if (inside.size > 0) fields.set("input_reference", Object.fromEntries(inside))
  return Object.fromEntries(fields)
}

/** Limits of `seconds`. No group of the interface creates more than 15 s. */
const LONGEST_SECONDS = 60
const SHORTEST_SECONDS = 0.5

const outOfRange = new Failure({
  status: 400,
  message: `\`seconds\` is "${SHORTEST_SECONDS}" to "${LONGEST_SECONDS}": which of them a model takes, its group says`,
  param: "seconds"
})

/** An identifier of the gateway's own, or a media type. */
const WORD = /^(?:image\/)?[\w-]{1,200}$/

/** All strings of an object in the gateway's own form. */
const textsIn = (form: Schema.Json): ReadonlyArray<string> => {
  const texts: Array<string> = []
  const left = [form]
  for (const one of left) {
    if (typeof one === "string") texts.push(one)
    else if (typeof one === "object" && one !== null) for (const value of Object.values(one)) left.push(value)
  }
  return texts
}

const noImage = new Failure({
  status: 400,
  message: "`input_reference` names no image: give a URL, a data URI or Base64, or leave it out",
  param: "input_reference"
})

/** In an object, strings that are not identifiers are images. */
const checkReference = (given: VideoRequest["input_reference"]) => {
  if (typeof given !== "object") return checkImages([given], "input_reference")
  const texts = textsIn(given)
  if (texts.length === 0) return Effect.fail(noImage)
  return checkImages([given["image_url"], ...texts.filter((text) => !WORD.test(text))], "input_reference")
}

/** The request, and its body as JSON to pass on. */
export const videoForm = Effect.filterOrFail(
  mediaForm(VideoRequest, fromParts),
  ({ request: { seconds } }) =>
    seconds === undefined || (Number(seconds) >= SHORTEST_SECONDS && Number(seconds) <= LONGEST_SECONDS),
  () => outOfRange
).pipe(Effect.tap(({ request }) => checkReference(request.input_reference)))
