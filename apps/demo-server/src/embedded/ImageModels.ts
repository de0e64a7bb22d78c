/** The embedded image models: one painter under the rules of each model group. */
import { type ImageCall, InvalidRequest } from "@sluice/core"
import type { ImageGroup, ImageRequest } from "@sluice/core/contract"
import { Effect, String } from "effect"

interface EmbeddedImageModel {
  readonly id: string
  readonly group: ImageGroup
  /** Returns a task, which the caller polls. */
  readonly twoSteps: boolean
}

const imageModel = (name: string, group: ImageGroup, twoSteps = false): EmbeddedImageModel => ({
  id: `sluice-image-${name}`,
  group,
  twoSteps
})

/** One model of each group, and two of I5 that work in two steps. */
export const imageModels: ReadonlyArray<EmbeddedImageModel> = [
  ...(["I1", "I2", "I3", "I4", "I5"] as const).map((group) => imageModel(group.toLowerCase(), group)),
  imageModel("i5-task", "I5", true),
  imageModel("i5-task-raw", "I5", true),
  imageModel("i6", "I6")
]

/** The two-step model whose `raw` is true by default. */
export const RAW_MODEL = "sluice-image-i5-task-raw"

/** The form of the images in a response. */
export type ImageForm = "url" | "b64_json" | "base64_json"

const FORMS: ReadonlyArray<string> = ["url", "b64_json", "base64_json"] satisfies ReadonlyArray<ImageForm>
const isForm = (form: string): form is ImageForm => FORMS.includes(form)

/**
 * The requested form. Default: links.
 *
 * **Gotchas.** The interface has `response_format` for group I4 only. Every model accepts it, because common clients always
 * send it.
 */
export const parseForm = ({ response_format }: ImageRequest): Effect.Effect<ImageForm, InvalidRequest> => {
  const form = response_format ?? "url"
  const message = `\`response_format\` must be one of ${FORMS.join(", ")}`
  return isForm(form) ? Effect.succeed(form) : new InvalidRequest({ message, param: "response_format" })
}

/** The interface's fields that an `ImageCall` has, there in camel case. */
const FIELDS = [
  "model",
  "prompt",
  "size",
  "n",
  "quality",
  "image",
  "input_fidelity",
  "moderation",
  "output_format",
  "safety_tolerance",
  "aspect_ratio",
  "seed",
  "raw",
  "watermark",
  "sequential_image_generation"
] as const

/** Values of `quality` that common clients send by default. */
const DEFAULT_QUALITY: ReadonlySet<unknown> = new Set(["auto", "standard"])

/** Converts a request to a call of its group, without checking the group's rules. */
export const callOf = (group: ImageGroup, request: ImageRequest): ImageCall => {
  const given = FIELDS.flatMap((name) => {
    const value = request[name]
    const isDefault = value === undefined || (name === "quality" && DEFAULT_QUALITY.has(value))
    return isDefault ? [] : [[String.snakeToCamel(name), value] as const]
  })
  return { group, ...Object.fromEntries(given) } as unknown as ImageCall
}

/** Phrases of `ImageCall` errors that differ in the interface. */
const PHRASES = [
  [/\bThe fields are group, /, "The fields are "],
  [/, extra\b/, ""],
  [/\ban image: .* or \{ file: path \}/, "one image: a URL, a data URI or Base64"]
] as const

/** Translates an error of a call to the interface's field names. */
export const toWireNames = ({ message, param }: InvalidRequest): InvalidRequest => {
  const renamed = (text: string) => text.replaceAll(/\b[a-z]+(?:[A-Z][a-z]+)+\b/g, String.camelToSnake)
  return new InvalidRequest({
    message: PHRASES.reduce((text, [name, wire]) => text.replace(name, wire), renamed(message)),
    param: param === undefined ? undefined : renamed(param)
  })
}
