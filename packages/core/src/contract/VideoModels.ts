/** Which durations and sizes each group of video models takes: one typed call for each. */
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
 * What each group of text-to-video models takes, as the interface lists it.
 *
 * **When to use.** To offer the values, or to know them; calls are checked against them by themselves.
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

/** Whether a word is a group of video models. */
export const isVideoGroup = (word: unknown): word is VideoGroup =>
  word === "image-to-video" || (typeof word === "string" && Object.hasOwn(VIDEO_GROUPS, word))

/** An image to begin with; or an object in a form of the gateway's own, sent as it is. */
export type InputReference = ImageSource | { readonly object: Readonly<Record<string, Schema.Json>> }

interface Common {
  readonly model: string
  readonly prompt: string
  readonly inputReference?: InputReference
  /** Fields that the interface does not name, by their names on the wire: sent beside the others as they are. */
  readonly extra?: Extra
}

interface Of<G extends TextGroup> extends Common {
  readonly group: G
  readonly seconds?: (typeof VIDEO_GROUPS)[G]["seconds"][number]
  readonly size?: (typeof VIDEO_GROUPS)[G]["size"][number]
}

/** Group V-A: 4, 8 or 12 s; pixels, upright or wide. Its tasks alone may be `queued`. */
export interface VideoCallA extends Of<"V-A"> {}

/** Group V-B (preview): 4, 6 or 8 s; 720p, 1080p or 4k. */
export interface VideoCallB extends Of<"V-B"> {}

/** Group V-C: 4, 6 or 8 s; 720p or 1080p. */
export interface VideoCallC extends Of<"V-C"> {}

/** Group V-D: 2 to 15 s; 1280x720 or 1920x1080. Prompts in Chinese give better results. */
export interface VideoCallD extends Of<"V-D"> {}

/** Group V-E (preview): 5 or 10 s; any height from 480P to 1080P. Prompts in Chinese give better results. */
export interface VideoCallE extends Of<"V-E"> {}

/** Group V-F: 5 s; 480P or 1080P. Prompts in Chinese give better results. */
export interface VideoCallF extends Of<"V-F"> {}

/** Group V-G: 5 or 10 s; an aspect ratio in place of a size. */
export interface VideoCallG extends Of<"V-G"> {}

/**
 * An image-to-video model: the image is needed; which durations and sizes it takes the interface does not say.
 *
 * Prompts in Chinese give better results.
 */
export interface ImageToVideoCall extends Common {
  readonly group: "image-to-video"
  readonly inputReference: InputReference
  /** Text, such as "5". */
  readonly seconds?: string
  readonly size?: string
}

/**
 * A model whose group is not known: any duration (text, such as "5") and any size, for the gateway to judge.
 *
 * Where the client, or the call, is provided a `ModelCatalogue` that knows the model, it is checked as one of its group.
 */
export interface AnyVideoCall extends Common {
  readonly group?: undefined
  readonly seconds?: string
  readonly size?: string
}

/**
 * A video to make.
 *
 * `group` says which kind of model it is, and with it which `seconds` and `size` compile. It is not sent.
 */
export type VideoCall =
  | VideoCallA
  | VideoCallB
  | VideoCallC
  | VideoCallD
  | VideoCallE
  | VideoCallF
  | VideoCallG
  | ImageToVideoCall
  | AnyVideoCall

/** More values than these are told by the first and the last. */
const LISTED = 14

const listed = (values: ReadonlyArray<string>): string =>
  values.length > LISTED ? `${values[0]} to ${values.at(-1)}` : values.join(", ")

/** Why a call is refused before it is sent: its group takes other values. For calls that no compiler has seen. */
export const validateVideoCall = (call: VideoCall): InvalidRequest | undefined => {
  const { group } = call
  const beside = validateExtra(call.extra, VideoRequest)
  if (beside !== undefined) return beside
  if (group === undefined) return undefined
  if (group === "image-to-video") {
    const message = "An image-to-video model wants an image to begin with: `inputReference`."
    return call.inputReference === undefined
      ? new InvalidRequest({ message, param: "input_reference" })
      : undefined
  }
  if (!isVideoGroup(group)) {
    const groups = [...Object.keys(VIDEO_GROUPS), "image-to-video"].join(", ")
    const message = `There is no group ${String(group)} of video models, but ${groups}.`
    return new InvalidRequest({ message, param: "group" })
  }
  for (const param of ["seconds", "size"] as const) {
    const values: ReadonlyArray<string> = VIDEO_GROUPS[group][param]
    const value: unknown = call[param]
    if (value === undefined || (typeof value === "string" && values.includes(value))) continue
    const text = typeof value === "number" ? " It is text, never a number." : ""
    const message = `Group ${group} takes \`${param}\` ${listed(values)}, not ${JSON.stringify(value)}.${text}`
    return new InvalidRequest({ message, param })
  }
  return undefined
}
