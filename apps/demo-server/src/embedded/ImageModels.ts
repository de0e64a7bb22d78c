/** The embedded image models: one painter under the rules of each model group. */
import { type ImageCall, InvalidRequest } from "@sluice/core"
import type { ImageGroup, ImageRequest } from "@sluice/core/contract"
import { Effect } from "effect"

interface EmbeddedImageModel {
  readonly id: string
  readonly group: ImageGroup
  /** Returns a task, which the caller polls. */
  readonly twoSteps: boolean
}

const oneStep = (group: ImageGroup): EmbeddedImageModel => ({
  id: `sluice-image-${group.toLowerCase()}`,
  group,
  twoSteps: false
})

const twoSteps = (id: string): EmbeddedImageModel => ({ id, group: "I5", twoSteps: true })

/** One model of each group, and two of I5 that work in two steps. */
export const imageModels: ReadonlyArray<EmbeddedImageModel> = [
  ...(["I1", "I2", "I3", "I4", "I5"] as const).map(oneStep),
  twoSteps("sluice-image-i5-task"),
  twoSteps("sluice-image-i5-task-raw"),
  oneStep("I6")
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

/** The interface's field names, and their names in an `ImageCall`. */
const NAMES = {
  model: "model",
  prompt: "prompt",
  size: "size",
  n: "n",
  quality: "quality",
  image: "image",
  input_fidelity: "inputFidelity",
  moderation: "moderation",
  output_format: "outputFormat",
  safety_tolerance: "safetyTolerance",
  aspect_ratio: "aspectRatio",
  seed: "seed",
  raw: "raw",
  watermark: "watermark",
  sequential_image_generation: "sequentialImageGeneration"
} as const satisfies Partial<Record<keyof ImageRequest, string>>

/** Values of `quality` that common clients send by default. */
const DEFAULT_QUALITY: ReadonlySet<unknown> = new Set(["auto", "standard"])

/** Converts a request to a call of its group, without checking the group's rules. */
export const callOf = (group: ImageGroup, request: ImageRequest): ImageCall => {
  const given = Object.entries(NAMES).flatMap(([wire, name]) => {
    const value = request[wire as keyof typeof NAMES]
    const isDefault = value === undefined || (wire === "quality" && DEFAULT_QUALITY.has(value))
    return isDefault ? [] : [[name, value] as const]
  })
  return { group, ...Object.fromEntries(given) } as unknown as ImageCall
}

/** Phrases of `ImageCall` errors that differ in the interface. */
const PHRASES = [
  [/\bThe fields are group, /, "The fields are "],
  [/, extra\b/, ""],
  [/\bresponseFormat\b/, "response_format"],
  [/\ban image: .* or \{ file: path \}/, "one image: a URL, a data URI or Base64"]
] as const

/** Translates an error of a call to the interface's field names. */
export const toWireNames = ({ message, param }: InvalidRequest): InvalidRequest => {
  const renamed = (text: string) =>
    Object.entries(NAMES).reduce(
      (text, [wire, name]) =>
        wire === name ? text : text.replaceAll(new RegExp(`\\b${name}\\b`, "g"), wire),
      text
    )
  return new InvalidRequest({
    message: PHRASES.reduce((text, [name, wire]) => text.replace(name, wire), renamed(message)),
    param: param === undefined ? undefined : renamed(param)
  })
}
