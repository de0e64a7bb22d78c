/** Calls that a group of image models does not accept do not compile. */
import { assert, describe, it } from "@effect/vitest"
import type { ImagesOptions, VideosOptions } from "@sluice/core/client"
import { validateImageCall, type ImageSource } from "@sluice/core/contract"
import { type ImageCall, imagePart } from "@sluice/core"
import { readImage } from "@sluice/core/media"
import { Effect, type FileSystem, Result } from "effect"
import { png } from "./mediaImages.ts"

const m = { model: "m", prompt: "p" }
const url = "https://images.example.com/1.png"
const bytes = png(1, 1)

const compiles: ReadonlyArray<ImageCall> = [
  { ...m },
  { ...m, size: "anything", n: 7 as number, quality: "best", image: [url, bytes], extra: { style: "vivid" } },
  {
    ...m,
    inputFidelity: "x",
    moderation: "x",
    outputFormat: "x",
    safetyTolerance: 1 as number,
    aspectRatio: "x",
    seed: 1,
    raw: true,
    watermark: true,
    sequentialImageGeneration: "x",
    responseFormat: "x"
  },
  { ...m, group: "I1", size: "auto", n: 10, quality: "high", image: { file: "a.png" } },
  {
    ...m,
    group: "I1",
    inputFidelity: "low",
    moderation: "auto",
    outputFormat: "webp",
    size: "hd",
    quality: "hd"
  },
  { ...m, group: "I2", size: "1024x1536", n: 1 },
  { ...m, group: "I3", watermark: false, seed: 0, image: bytes },
  { ...m, group: "I4", image: [url, new URL(url), bytes, { file: "a.png" }], responseFormat: "base64_json" },
  { ...m, group: "I4", image: url, sequentialImageGeneration: "disabled", seed: -1, watermark: true },
  { ...m, group: "I5", safetyTolerance: 5, aspectRatio: "21:9", seed: 3, raw: false },
  { ...m, group: "I6", image: url, size: "4K", extra: { operation: "erase" } }
]

const doesNot: ReadonlyArray<ImageCall> = [
  // @ts-expect-error: a prompt is needed
  { model: "m" },
  // @ts-expect-error: a model is needed
  { prompt: "p", group: "I2" },
  // @ts-expect-error: there is no such group
  { ...m, group: "I7" },
  // @ts-expect-error: n is 1 to 10
  { ...m, group: "I1", n: 11 },
  // @ts-expect-error: n is 1 to 10
  { ...m, group: "I1", n: 0 },
  // @ts-expect-error: of a size that no group takes
  { ...m, group: "I1", size: "8K" },
  // @ts-expect-error: hd is no size of the group
  { ...m, group: "I2", size: "hd" },
  // @ts-expect-error: hd is no quality of the group
  { ...m, group: "I3", quality: "hd" },
  // @ts-expect-error: generation alone
  { ...m, group: "I2", image: url },
  // @ts-expect-error: one reference image
  { ...m, group: "I1", image: [url] },
  // @ts-expect-error: high or low
  { ...m, group: "I1", inputFidelity: "medium" },
  // @ts-expect-error: auto or low
  { ...m, group: "I1", moderation: "high" },
  // @ts-expect-error: png, jpeg or webp
  { ...m, group: "I1", outputFormat: "gif" },
  // @ts-expect-error: of another group
  { ...m, group: "I1", watermark: true },
  // @ts-expect-error: a number
  { ...m, group: "I3", seed: "1" },
  // @ts-expect-error: of another group
  { ...m, group: "I3", responseFormat: "url" },
  // @ts-expect-error: b64_json is what OpenAI calls it
  { ...m, group: "I4", responseFormat: "b64_json" },
  // @ts-expect-error: auto or disabled
  { ...m, group: "I4", sequentialImageGeneration: true },
  // @ts-expect-error: 0 to 5
  { ...m, group: "I5", safetyTolerance: 6 },
  // @ts-expect-error: a ratio
  { ...m, group: "I5", aspectRatio: "wide" },
  // @ts-expect-error: a boolean
  { ...m, group: "I5", raw: "yes" },
  // @ts-expect-error: of another group
  { ...m, group: "I6", safetyTolerance: 2 },
  // @ts-expect-error: JSON
  { ...m, group: "I6", extra: { at: new Date(0) } },
  // @ts-expect-error: neither a path nor anything else that is an image
  { ...m, group: "I6", image: { path: "a.png" } }
]

/** Only files require a `FileSystem`. */
const needs = {
  url: (): Effect.Effect<unknown, unknown> => readImage(url),
  bytes: (): Effect.Effect<unknown, unknown> => imagePart(bytes, "low"),
  file: (): Effect.Effect<unknown, unknown, FileSystem.FileSystem> => readImage({ file: "a.png" }),
  any: (source: ImageSource): Effect.Effect<unknown, unknown, FileSystem.FileSystem> => readImage(source),
  // @ts-expect-error: a file is read by somebody
  // @effect-diagnostics-next-line missingEffectContext:off
  unread: (): Effect.Effect<unknown, unknown> => readImage({ file: "a.png" }),
  // @ts-expect-error: it may be a file
  // @effect-diagnostics-next-line missingEffectContext:off
  unknown: (source: ImageSource): Effect.Effect<unknown, unknown> => readImage(source),
  // @ts-expect-error: low, high or auto
  detail: () => imagePart(url, "medium")
}

const patience: ImagesOptions & VideosOptions = {
  images: { deadline: "1 minute" },
  // @ts-expect-error: it is called `deadline`
  videos: { timeout: "1 minute" }
}

describe("calls of images", () => {
  it("are accepted at run time exactly if they compile", () => {
    const taken = (call: ImageCall) => Result.isSuccess(validateImageCall(call))
    for (const call of compiles) assert.isTrue(taken(call), JSON.stringify(call))
    for (const call of doesNot) assert.isFalse(taken(call), JSON.stringify(call))
  })

  it.effect("run without a `FileSystem` if they have no files", () =>
    Effect.gen(function* () {
      yield* needs.url()
      yield* needs.bytes()
    })
  )

  it("have exported types for their wait options", () => {
    assert.deepStrictEqual(Object.keys(patience), ["images", "videos"])
  })
})
