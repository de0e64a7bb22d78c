/** The video models of this process: one animator, under the rules of each group. */
import { InvalidRequest, type VideoCall, type VideoGroup } from "@sluice/core"
import { refusedVideoCall, VIDEO_GROUPS, type VideoRequest } from "@sluice/core/contract"
import { animatorModel, type Size } from "@sluice/embedded/media"

export interface EmbeddedVideoModel {
  readonly id: string
  readonly group: VideoGroup
  readonly note: string
}

/** Fails on purpose, each time, so that whoever writes a client can try what it does then. */
export const FAILING_MODEL = "sluice-video-failing"

const groups = Object.keys(VIDEO_GROUPS) as ReadonlyArray<keyof typeof VIDEO_GROUPS>

/** One of each group, one from an image, and the one that fails. */
export const videoModels: ReadonlyArray<EmbeddedVideoModel> = [
  ...groups.map((group) => ({
    id: `sluice-video-${group.toLowerCase()}`,
    group,
    note: animatorModel.note
  })),
  { id: "sluice-video-from-image", group: "image-to-video", note: animatorModel.note },
  { id: FAILING_MODEL, group: "V-C", note: "fails on purpose, each time" }
]

/** Of a model from an image the interface says neither. */
const USUAL = { seconds: "5", size: "480P" } as const

/** The lines of an aspect ratio's shorter side. */
const RATIO_SIDE = 720

const even = (side: number) => 2 * Math.round(side / 2)

/** Pixels, lines (16:9, upwards to 4k) or an aspect ratio, in pixels. */
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

/** What is made of a request, with what its group has for what is not said. */
export interface VideoPlan extends Size {
  readonly seconds: string
  readonly size: string
}

/** The plan, or what the model's group takes instead. */
export const planOf = (
  { group }: EmbeddedVideoModel,
  { input_reference, model, prompt, seconds, size }: VideoRequest
): VideoPlan | InvalidRequest => {
  const call = {
    group,
    model,
    prompt,
    ...(seconds !== undefined && { seconds }),
    ...(size !== undefined && { size }),
    // Whether there is one is all that the group's rule asks.
    ...(input_reference !== undefined && { inputReference: "given" })
  }
  const refused = refusedVideoCall(call as VideoCall)
  if (refused !== undefined) {
    const message = refused.message.replaceAll("inputReference", "input_reference")
    return new InvalidRequest({ message, param: refused.param })
  }
  const usual =
    group === "image-to-video"
      ? USUAL
      : { seconds: VIDEO_GROUPS[group].seconds[0], size: VIDEO_GROUPS[group].size[0] }
  const plan = { seconds: seconds ?? usual.seconds, size: size ?? usual.size }
  const pixels = pixelsOf(plan.size)
  return pixels === undefined
    ? new InvalidRequest({ message: "`size` is such as 1280x720, 720P or 16:9", param: "size" })
    : { ...plan, ...pixels }
}
