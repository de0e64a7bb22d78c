/** What the embedded painter draws for a call. */
import { MAX_SEED } from "@sluice/core/contract"
import { GatewayError, type ImageCall, ServerFailure } from "@sluice/core"
import type { ImageSize, LoadedImage } from "@sluice/core/media"
import { paint, paintMany, type PaintRequest } from "@sluice/embedded/media"
import { Duration, Effect, Fiber } from "effect"
import { randomInt } from "node:crypto"
import { Shutdown } from "../http/Shutdown.ts"
import { RAW_MODEL } from "./ImageModels.ts"

/** The longer side, in pixels. */
const SIDES: Readonly<Record<string, number>> = { auto: 1024, "1K": 1024, "2K": 2048, "4K": 4096, hd: 2048 }

const parsePair = (text: string | undefined, separator: "x" | ":"): ImageSize | undefined => {
  const [width, height] = (text ?? "").split(separator).map(Number)
  return width !== undefined && height !== undefined && width > 0 && height > 0
    ? { width, height }
    : undefined
}

/** Scales a shape so that its longer side is `side`. */
const scaleTo = (side: number, { height, width }: ImageSize): ImageSize => {
  const scale = side / Math.max(width, height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/**
 * The size of an image in pixels.
 *
 * **Details.** `size` is the longer side, or both sides. `aspectRatio` sets the shape. Without a shape it is that of the
 * reference image, or a square.
 */
const pixelsOf = (
  size = "auto",
  aspectRatio: string | undefined,
  reference: ImageSize | undefined
): ImageSize => {
  const exact = parsePair(size, "x")
  const ratio = parsePair(aspectRatio, ":")
  if (exact !== undefined)
    return ratio === undefined ? exact : scaleTo(Math.max(exact.width, exact.height), ratio)
  return scaleTo(SIDES[size] ?? 1024, ratio ?? reference ?? { width: 1, height: 1 })
}

/** The file format of a call's images. */
export const outputFormat = (call: ImageCall) => (call.group === "I1" ? (call.outputFormat ?? "png") : "png")

/** The painter's request. Without a seed, or with -1, the seed is random. */
export const paintRequest = (call: ImageCall, references: ReadonlyArray<LoadedImage>): PaintRequest => {
  const seed = "seed" in call && call.seed !== undefined && call.seed >= 0 ? call.seed : randomInt(MAX_SEED)
  const quality = call.quality === "low" || call.quality === "high" ? call.quality : undefined
  const aspectRatio = "aspectRatio" in call ? call.aspectRatio : undefined
  return {
    prompt: call.prompt,
    ...pixelsOf(call.size, aspectRatio, references[0]),
    format: outputFormat(call),
    seed,
    reference: references.map(({ bytes }) => bytes),
    fidelity: call.group === "I1" ? call.inputFidelity : undefined,
    quality: call.quality === "hd" ? "high" : quality,
    raw: call.group === "I5" ? (call.raw ?? call.model === RAW_MODEL) : false,
    watermark: call.group === "I3" ? (call.watermark ?? true) : call.group === "I4" && call.watermark === true
  }
}

/** Draws a series. Each image starts from the previous one, so that they look related. */
const paintSeries = (request: PaintRequest, count: number) =>
  Effect.gen(function* () {
    const images: Array<Uint8Array> = []
    for (let position = 0; position < count; position++) {
      const last = images.at(-1)
      images.push(
        yield* paint({
          ...request,
          seed: (request.seed ?? 0) + position,
          ...(last !== undefined && { reference: last, fidelity: "high" as const })
        })
      )
    }
    return images as ReadonlyArray<Uint8Array>
  })

/** Draws the images of a call. */
export const draw = (call: ImageCall, references: ReadonlyArray<LoadedImage>) => {
  const request = paintRequest(call, references)
  const count = call.n ?? 1
  const isSeries = call.group === "I4" && call.sequentialImageGeneration === "auto"
  return isSeries ? paintSeries(request, count) : paintMany(request, count)
}

const stopping = new GatewayError({
  operation: "images",
  reason: new ServerFailure({
    status: 503,
    message: "The server is stopping and created nothing. Try again",
    retryAfter: Duration.seconds(1)
  })
})

/** Fails when the server's time to stop is over. The painter itself cannot be interrupted and ends later. */
export const untilShutdown = Effect.fnUntraced(function* <A>(create: Effect.Effect<A, GatewayError>) {
  const shutdown = yield* Effect.serviceOption(Shutdown)
  if (shutdown._tag === "None") return yield* create
  const creating = yield* Effect.forkDetach(Effect.interruptible(create))
  const ended = Effect.andThen(shutdown.value.over, Effect.forkDetach(Fiber.interrupt(creating)))
  return yield* Effect.raceFirst(
    Effect.interruptible(Fiber.join(creating)),
    Effect.interruptible(Effect.andThen(ended, Effect.fail(stopping)))
  )
})
