/** What images are asked for with, in JSON or as a form. */
import { ImageRequest } from "@sluice/core"
import { type FromParts, mediaForm } from "./MediaForm.ts"

/** Fields that are no text in JSON. A form has nothing but text. */
const numbers: ReadonlySet<string> = new Set(["n", "seed", "safety_tolerance"])
const switches: ReadonlySet<string> = new Set(["raw", "watermark"])

const valueOf = (name: string, text: string): unknown => {
  if (numbers.has(name) && /^-?\d{1,15}$/.test(text)) return Number(text)
  return switches.has(name) && (text === "true" || text === "false") ? text === "true" : text
}

/** Several parts named `image`, or `image[]`, are several images. */
const fromParts: FromParts = (parts) => {
  const isImage = (name: string) => name === "image" || name === "image[]"
  const images = parts.flatMap(([name, value]) => (isImage(name) ? [value] : []))
  return Object.fromEntries([
    ...parts.filter(([name]) => !isImage(name)).map(([name, text]) => [name, valueOf(name, text)] as const),
    ...(images.length === 0 ? [] : [["image", images.length === 1 ? images[0] : images] as const])
  ])
}

/** The request, and its body as JSON for whoever passes it on. */
export const imageForm = mediaForm(ImageRequest, fromParts)
