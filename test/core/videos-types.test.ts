/** Video calls that do not compile, and that they are also refused at run time. */
import { assert, describe, it } from "@effect/vitest"
import {
  type AnyVideoCall,
  type ImageToVideoCall,
  validateVideoCall,
  VIDEO_GROUPS,
  type VideoHeight,
  type VideoRequest,
  type VideoGroup
} from "@sluice/core/contract"
import type { VideoCall } from "@sluice/core"

const v = (call: VideoCall) => call
const m = { model: "v", prompt: "p" }
const image = "https://a.example/cat.png"

describe("video calls", () => {
  it("do not compile with values of another group, and are refused", () => {
    const calls: ReadonlyArray<VideoCall> = [
      // @ts-expect-error V-A takes 4, 8 or 12 s
      v({ ...m, group: "V-A", seconds: "5" }),
      // @ts-expect-error seconds are text
      v({ ...m, group: "V-A", seconds: 8 }),
      // @ts-expect-error V-A takes pixels
      v({ ...m, group: "V-A", size: "720p" }),
      // @ts-expect-error V-B takes 4, 6 or 8 s
      v({ ...m, group: "V-B", seconds: "10" }),
      // @ts-expect-error V-B takes lines
      v({ ...m, group: "V-B", size: "1280x720" }),
      // @ts-expect-error V-C has no 4k
      v({ ...m, group: "V-C", size: "4k" }),
      // @ts-expect-error V-C writes a small p
      v({ ...m, group: "V-C", size: "720P" }),
      // @ts-expect-error V-D begins at 2 s
      v({ ...m, group: "V-D", seconds: "1" }),
      // @ts-expect-error V-D ends at 15 s
      v({ ...m, group: "V-D", seconds: "16" }),
      // @ts-expect-error V-D takes no upright video
      v({ ...m, group: "V-D", size: "720x1280" }),
      // @ts-expect-error V-E begins at 480P
      v({ ...m, group: "V-E", size: "479P" }),
      // @ts-expect-error V-E ends at 1080P
      v({ ...m, group: "V-E", size: "1081P" }),
      // @ts-expect-error V-E takes 5 or 10 s
      v({ ...m, group: "V-E", seconds: "15" }),
      // @ts-expect-error V-F takes 5 s
      v({ ...m, group: "V-F", seconds: "10" }),
      // @ts-expect-error V-F takes two heights
      v({ ...m, group: "V-F", size: "720P" }),
      // @ts-expect-error V-G takes aspect ratios
      v({ ...m, group: "V-G", size: "1280x720" }),
      // @ts-expect-error there are seven groups
      v({ ...m, group: "V-H" }),
      // @ts-expect-error an image-to-video model wants an image
      v({ ...m, group: "image-to-video" })
    ]
    for (const call of calls) assert.isDefined(validateVideoCall(call), JSON.stringify(call))
  })

  it("do not compile with numeric seconds, or without model or prompt", () => {
    // @ts-expect-error seconds are text
    v({ ...m, seconds: 5 })
    // @ts-expect-error seconds are text
    v({ ...m, group: "image-to-video", inputReference: image, seconds: 5 })
    // @ts-expect-error no prompt
    v({ model: "v" })
    // @ts-expect-error no model
    v({ prompt: "p" })
    // @ts-expect-error seconds are text on the wire as well
    const wire: VideoRequest = { ...m, seconds: 5 }
    assert.isDefined(wire)
    // @ts-expect-error what goes beside is JSON
    v({ ...m, group: "V-A", extra: { at: new Date(0) } })
  })

  it("compile with the values of their group, and are accepted", () => {
    const loose: AnyVideoCall = { ...m, seconds: "7", size: "8k", extra: { fps: 24 } }
    const moving: ImageToVideoCall = { ...m, group: "image-to-video", inputReference: { file: "a.png" } }
    const calls: ReadonlyArray<VideoCall> = [
      v({ ...m, group: "V-A", seconds: "12", size: "1792x1024", extra: { fps: 24 } }),
      v({ ...m, group: "V-B", seconds: "6", size: "4k" }),
      v({ ...m, group: "V-C", seconds: "6", size: "1080p" }),
      v({ ...m, group: "V-D", seconds: "15", size: "1920x1080" }),
      v({ ...m, group: "V-E", seconds: "10", size: "731P" }),
      v({ ...m, group: "V-F", seconds: "5", size: "1080P" }),
      v({ ...m, group: "V-G", size: "21:9", inputReference: image }),
      v({ ...m, group: "V-G" }),
      { ...moving, seconds: "7", size: "720P" },
      moving,
      loose
    ]
    for (const call of calls) assert.isUndefined(validateVideoCall(call), JSON.stringify(call))
  })

  it("have the groups, durations and sizes of the interface", () => {
    const height: VideoHeight = "480P"
    const groups: Array<VideoGroup> = ["V-A", "V-B", "V-C", "V-D", "V-E", "V-F", "V-G"]
    assert.deepStrictEqual(Object.keys(VIDEO_GROUPS), groups)
    const { size } = VIDEO_GROUPS["V-E"]
    assert.deepStrictEqual([size[0], size.at(-1), size.length], [height, "1080P", 601])
    assert.deepStrictEqual(
      VIDEO_GROUPS["V-D"].seconds.map(Number),
      Array.from({ length: 14 }, (_, i) => i + 2)
    )
  })
})
