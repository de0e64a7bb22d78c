/** The embedded video models: one animator under the rules of each model group. */
import { InvalidRequest, type VideoCall } from "@sluice/core"
import { type VideoGroup, validateVideoCall, VIDEO_GROUPS, type VideoRequest } from "@sluice/core/contract"
import { animatorModel, type Size } from "@sluice/embedded/media"
import { Effect } from "effect"

interface EmbeddedVideoModel {
  readonly id: string
  readonly group: VideoGroup
  readonly note: string
}

/** Always fails, so that authors of clients can test errors. */
export const FAILING_MODEL = "sluice-video-failing"

const groups = Object.keys(VIDEO_GROUPS) as ReadonlyArray<keyof typeof VIDEO_GROUPS>

/** One model of each group, one that starts from an image, and the failing one. */
export const videoModels: ReadonlyArray<EmbeddedVideoModel> = [
  ...groups.map((group) => ({
    id: `sluice-video-${group.toLowerCase()}`,
    group,
    note: animatorModel.note
  })),
  { id: "sluice-video-from-image", group: "image-to-video", note: animatorModel.note },
  { id: FAILING_MODEL, group: "V-C", note: "always fails, for tests" }
]

/** The interface has no defaults for models that start from an image. */
const IMAGE_TO_VIDEO_DEFAULTS = { seconds: "5", size: "480P" } as const

/** The shorter side of an aspect ratio, in pixels. */
const RATIO_SIDE = 720

const even = (side: number) => 2 * Math.round(side / 2)

/** Parses pixels, lines (16:9, up to 4k) or an aspect ratio. */
const pixelsOf = (size: string): Size | undefined => {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? []
  if (width !== undefined && height !== undefined) return { width: Number(width), height: Number(height) }
  const [, across, down] = /^(\d{1,3}):(\d{1,3})$/.exec(size) ?? []
  if (across !== undefined && down !== undefined) {
    const unit = RATIO_SIDE / Math.min(Number(across), Number(down))
    return { width: even(Number(across) * unit), height: even(Number(down) * unit) }
  }
  const lines = /^4k$/i.test(size) ? 2160 : Number(/^(\d{3,4})p$/i.exec(size)?.[1])
  return Number.isNaN(lines) ? undefined : { width: even((lines * 16) / 9), height: even(lines) }
}

/** The request with the defaults of its group, and the size in pixels. */
export interface VideoPlan extends Size {
  readonly seconds: string
  readonly size: string
}

/** Fails with the group's error. */
export const planVideo = (
  { group }: EmbeddedVideoModel,
  { input_reference, model, prompt, seconds, size }: VideoRequest
): Effect.Effect<VideoPlan, InvalidRequest> => {
  const call = {
    group,
    model,
    prompt,
    ...(seconds !== undefined && { seconds }),
    ...(size !== undefined && { size }),
    // The rule only checks whether there is one.
    ...(input_reference !== undefined && { inputReference: "given" })
  }
  const rejected = validateVideoCall(call as VideoCall)
  if (rejected !== undefined) {
    const message = rejected.message.replaceAll("inputReference", "input_reference")
    return new InvalidRequest({ message, param: rejected.param })
  }
  const defaults =
    group === "image-to-video"
      ? IMAGE_TO_VIDEO_DEFAULTS
      : { seconds: VIDEO_GROUPS[group].seconds[0], size: VIDEO_GROUPS[group].size[0] }
  const plan = { seconds: seconds ?? defaults.seconds, size: size ?? defaults.size }
  const pixels = pixelsOf(plan.size)
  return pixels === undefined
    ? new InvalidRequest({ message: "`size` must be like 1280x720, 720P or 16:9", param: "size" })
    : Effect.succeed({ ...plan, ...pixels })
}
