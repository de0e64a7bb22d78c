/** The durations and sizes of each group of video models, as types. Calls that bypass the compiler are checked as well. */
import type { Schema } from "effect"
import { type Extra, validateExtra } from "./Fields.ts"
import { VideoRequest } from "./Videos.ts"
import { InvalidRequest } from "./GatewayError.ts"
import type { ImageSource } from "./ImageModels.ts"

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9

/** A height in lines from `480P` to `1080P`. */
export type VideoHeight =
  `${`4${8 | 9}${Digit}` | `${5 | 6 | 7 | 8 | 9}${Digit}${Digit}` | `10${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7}${Digit}` | 1080}P`

const heights = Array.from({ length: 1080 - 480 + 1 }, (_, i) => `${480 + i}P` as VideoHeight)

/**
 * The durations and sizes of each group of text-to-video models, from the interface.
 *
 * V-B and V-E are previews. V-D, V-E and V-F work better with Chinese prompts. Only tasks of V-A may be `queued`.
 */
export const VIDEO_GROUPS = {
  "V-A": { seconds: ["4", "8", "12"], size: ["720x1280", "1280x720", "1024x1792", "1792x1024"] },
  "V-B": { seconds: ["4", "6", "8"], size: ["720p", "1080p", "4k"] },
  "V-C": { seconds: ["4", "6", "8"], size: ["720p", "1080p"] },
  "V-D": {
    seconds: ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"],
    size: ["1280x720", "1920x1080"]
  },
  "V-E": { seconds: ["5", "10"], size: heights },
  "V-F": { seconds: ["5"], size: ["480P", "1080P"] },
  "V-G": { seconds: ["5", "10"], size: ["16:9", "9:16", "4:3", "3:4", "1:1", "21:9"] }
} as const

type TextGroup = keyof typeof VIDEO_GROUPS

/** The groups of video models: seven from text, one from an image. */
export type VideoGroup = TextGroup | "image-to-video"

/** True if a value is a group of video models. */
export const isVideoGroup = (word: unknown): word is VideoGroup =>
  word === "image-to-video" || (typeof word === "string" && Object.hasOwn(VIDEO_GROUPS, word))

/** The first image, or an object in the gateway's own form, sent unchanged. */
export type InputReference = ImageSource | { readonly object: Readonly<Record<string, Schema.Json>> }

interface Common {
  readonly model: string
  readonly prompt: string
  readonly inputReference?: InputReference | undefined
  /** Fields that the interface does not define, by their wire names. Sent unchanged. */
  readonly extra?: Extra | undefined
}

interface TextVideoCall<G extends TextGroup> extends Common {
  readonly group: G
  readonly seconds?: (typeof VIDEO_GROUPS)[G]["seconds"][number] | undefined
  readonly size?: (typeof VIDEO_GROUPS)[G]["size"][number] | undefined
}

/** A call of an image-to-video model. The interface gives no durations and sizes. Chinese prompts work better. */
export interface ImageToVideoCall extends Common {
  readonly group: "image-to-video"
  readonly inputReference: InputReference
  /** Text, such as "5". */
  readonly seconds?: string | undefined
  readonly size?: string | undefined
}

/**
 * A call of a model of unknown group: any duration (text, such as "5") and any size.
 *
 * If a `ModelCatalogue` is provided and has the model, the call is checked as one of its group.
 */
export interface AnyVideoCall extends Common {
  readonly group?: undefined
  readonly seconds?: string | undefined
  readonly size?: string | undefined
}

/** A video to create. `group` determines the types of `seconds` and `size`. It is not sent. */
export type VideoCall = { [G in TextGroup]: TextVideoCall<G> }[TextGroup] | ImageToVideoCall | AnyVideoCall

type Allowed<G extends VideoGroup, Field extends "seconds" | "size"> = G extends TextGroup
  ? (typeof VIDEO_GROUPS)[G][Field][number]
  : string

/**
 * A call whose group, seconds or size is known only at run time, as a variable of type `VideoGroup` or `string`.
 *
 * **Details.** The client checks it when it is made. Literal values are checked by the compiler, as in `VideoCall`.
 */
export type RuntimeVideoCall<G extends VideoGroup, S extends string, Z extends string> = Common & {
  readonly group: G
  readonly seconds?: (S & (string extends S ? string : Allowed<G, "seconds">)) | undefined
  readonly size?: (Z & (string extends Z ? string : Allowed<G, "size">)) | undefined
} & ([G] extends ["image-to-video"] ? { readonly inputReference: InputReference } : object)

/** Longer lists are shortened to their first and last value. */
const MAX_LISTED = 14

const listed = (values: ReadonlyArray<string>): string =>
  values.length > MAX_LISTED ? `${values[0]} to ${values.at(-1)}` : values.join(", ")

/** The error of a call whose group does not accept its values, else undefined. */
export const validateVideoCall = (call: VideoCall): InvalidRequest | undefined => {
  const { group } = call
  const invalidExtra = validateExtra(call.extra, VideoRequest)
  if (invalidExtra !== undefined) return invalidExtra
  if (group === undefined) return undefined
  if (group === "image-to-video") {
    const message = "An image-to-video model requires an image: `inputReference`."
    return call.inputReference === undefined
      ? new InvalidRequest({ message, param: "input_reference" })
      : undefined
  }
  if (!isVideoGroup(group)) {
    const groups = [...Object.keys(VIDEO_GROUPS), "image-to-video"].join(", ")
    const message = `${String(group)} is not a group of video models: ${groups}.`
    return new InvalidRequest({ message, param: "group" })
  }
  for (const param of ["seconds", "size"] as const) {
    const values: ReadonlyArray<string> = VIDEO_GROUPS[group][param]
    const value: unknown = call[param]
    if (value === undefined || (typeof value === "string" && values.includes(value))) continue
    const text = typeof value === "number" ? " It must be text." : ""
    const message = `Group ${group} accepts \`${param}\` ${listed(values)}, not ${JSON.stringify(value)}.${text}`
    return new InvalidRequest({ message, param })
  }
  return undefined
}
