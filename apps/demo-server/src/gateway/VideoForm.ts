/** What a video is asked for with, in JSON or as a form. */
import { Failure, VideoRequest } from "@sluice/core"
import { Effect } from "effect"
import { checkImages } from "./GivenImages.ts"
import { type FromParts, mediaForm } from "./MediaForm.ts"

/** Fields such as `input_reference[image_url]` make an object. */
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

/** No group of the interface makes more than 15 s; what is passed on is paid for. */
const LONGEST_SECONDS = 60
const SHORTEST_SECONDS = 0.5

const outOfRange = new Failure({
  status: 400,
  message: `\`seconds\` is "${SHORTEST_SECONDS}" to "${LONGEST_SECONDS}": which of them a model takes, its group says`,
  param: "seconds",
  retryable: false
})

/** The request, and its body as JSON for whoever passes it on. */
export const videoForm = Effect.filterOrFail(
  mediaForm(VideoRequest, fromParts),
  ({ request: { seconds } }) =>
    seconds === undefined || (Number(seconds) >= SHORTEST_SECONDS && Number(seconds) <= LONGEST_SECONDS),
  () => outOfRange
).pipe(
  Effect.tap(({ request: { input_reference: given } }) =>
    checkImages([typeof given === "object" ? given["image_url"] : given], "input_reference")
  )
)
