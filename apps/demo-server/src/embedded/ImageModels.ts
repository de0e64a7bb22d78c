/** The image models of this process: one painter, under the rules of each group. */
import { type ImageCall, type ImageGroup, InvalidRequest } from "@sluice/core"
import type { ImageRequest } from "@sluice/core/contract"

export interface EmbeddedImageModel {
  readonly id: string
  readonly group: ImageGroup
  /** Answers with a task, which is asked for later. */
  readonly twoSteps: boolean
}

const atOnce = (group: ImageGroup): EmbeddedImageModel => ({
  id: `sluice-image-${group.toLowerCase()}`,
  group,
  twoSteps: false
})

const asTask = (id: string): EmbeddedImageModel => ({ id, group: "I5", twoSteps: true })

/** One of each group; of I5 two more, which answer in two steps. */
export const imageModels: ReadonlyArray<EmbeddedImageModel> = [
  atOnce("I1"),
  atOnce("I2"),
  atOnce("I3"),
  atOnce("I4"),
  atOnce("I5"),
  asTask("sluice-image-i5-task"),
  asTask("sluice-image-i5-task-raw"),
  atOnce("I6")
]

/** What one of the two-step models is when it is not asked for otherwise. */
export const RAW_MODEL = "sluice-image-i5-task-raw"

/** How the images of an answer travel. */
export type ImageForm = "url" | "b64_json" | "base64_json"

const FORMS: ReadonlyArray<string> = ["url", "b64_json", "base64_json"] satisfies ReadonlyArray<ImageForm>
const isForm = (form: string): form is ImageForm => FORMS.includes(form)

/**
 * The form that is asked for; links when none is.
 *
 * **Gotchas.** The interface has it for group I4 alone. Common clients send it to every model, so every model takes it.
 */
export const formOf = ({ response_format }: ImageRequest): ImageForm | InvalidRequest => {
  const form = response_format ?? "url"
  return isForm(form)
    ? form
    : new InvalidRequest({ message: `\`response_format\` is ${FORMS.join(", ")}`, param: "response_format" })
}

/** The names of the interface's fields in calls. */
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

/** What common clients send as `quality` where nobody asked for any. */
const USUAL_QUALITY: ReadonlySet<unknown> = new Set(["auto", "standard"])

/** A request as the call that its group's rules are about; they are not checked yet. */
export const callOf = (group: ImageGroup, request: ImageRequest): ImageCall => {
  const given = Object.entries(NAMES).flatMap(([wire, name]) => {
    const value = request[wire as keyof typeof NAMES]
    const unsaid = value === undefined || (wire === "quality" && USUAL_QUALITY.has(value))
    return unsaid ? [] : [[name, value] as const]
  })
  return { group, ...Object.fromEntries(given) } as unknown as ImageCall
}

/** What calls have and the interface has not, or has for every model under another name. */
const OURS = [
  [/\bIt takes group, /, "It takes "],
  [/, extra\b/, ""],
  [/\bresponseFormat\b/, "response_format"],
  [/\ban image: .* or \{ file: path \}/, "one image: a URL, a data URI or Base64"]
] as const

/** The refusal of a call, in the interface's names. */
export const inWireNames = ({ message, param }: InvalidRequest): InvalidRequest => {
  const renamed = (text: string) =>
    Object.entries(NAMES).reduce(
      (text, [wire, name]) =>
        wire === name ? text : text.replaceAll(new RegExp(`\\b${name}\\b`, "g"), wire),
      text
    )
  return new InvalidRequest({
    message: OURS.reduce((text, [name, wire]) => text.replace(name, wire), renamed(message)),
    param: param === undefined ? undefined : renamed(param)
  })
}
