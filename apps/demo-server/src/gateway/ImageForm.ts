/** Image requests, as JSON or as a form. */
import { Failure, ImageRequest } from "@sluice/core/contract"
import { Effect } from "effect"
import { checkImages } from "./GivenImages.ts"
import { type FromParts, mediaForm } from "./MediaForm.ts"

/** Fields that are not strings in JSON. A form has only strings. */
const numbers: ReadonlySet<string> = new Set(["n", "seed", "safety_tolerance"])
const switches: ReadonlySet<string> = new Set(["raw", "watermark", "stream"])

const valueOf = (name: string, text: string): unknown => {
  if (numbers.has(name) && /^-?\d{1,15}$/.test(text)) return Number(text)
  return switches.has(name) && (text === "true" || text === "false") ? text === "true" : text
}

/** Several parts named `image` or `image[]` are several images. */
const fromParts: FromParts = (parts) => {
  const isImage = (name: string) => name === "image" || name === "image[]"
  const images = parts.flatMap(([name, value]) => (isImage(name) ? [value] : []))
  return Object.fromEntries([
    ...parts.filter(([name]) => !isImage(name)).map(([name, text]) => [name, valueOf(name, text)] as const),
    ...(images.length === 0 ? [] : [["image", images.length === 1 ? images[0] : images] as const])
  ])
}

const noStream = new Failure({
  status: 400,
  message: "Images are not streamed here: leave `stream` out, and they come in one answer",
  param: "stream"
})

/** The request, and its body as JSON. Streams are refused: the caller would wait for events, and pay. */
export const imageForm = Effect.filterOrFail(
  mediaForm(ImageRequest, fromParts),
  ({ request: { extra } }) => extra?.["stream"] !== true,
  () => noStream
).pipe(Effect.tap(({ request: { image } }) => checkImages([image].flat(), "image")))
