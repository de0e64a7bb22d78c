/** Procedural pictures as PNG, JPEG or WEBP files. */
import { GatewayError, ServerFailure } from "@sluice/core"
import type { ImageFormat } from "@sluice/core/media"
import { Effect, Semaphore } from "effect"
import { grainOf } from "./Grain.ts"
import {
  checkSeed,
  checkSize,
  invalidRequest,
  loadSharp,
  type Sharp,
  type SizeLimits
} from "./MediaRequest.ts"
import { referencesOf, invalidReference } from "./Reference.ts"
import { type Pixels, referencePixels, decodingError } from "./ReferencePixels.ts"
import { sceneOf, svgOf } from "./Scene.ts"
import { watermark } from "./Watermark.ts"

/** The entry in lists of models. */
export const painterModel = {
  id: "sluice-procedural-image",
  kind: "procedural",
  note: "procedural: drawn from the words' hash and the seed, no understanding"
} as const

export interface PaintRequest {
  /** Its hash chooses the composition and the palette. English and Chinese colour words are respected. */
  readonly prompt: string
  /** In pixels: a side 16 to 8,192, at most 4,096 × 4,096. */
  readonly width: number
  readonly height: number
  readonly format: ImageFormat
  /** An integer. Default 0. */
  readonly seed?: number | undefined
  /** A PNG, JPEG or WEBP to start from, at most 20 MB, cropped to the size; or several, side by side. */
  readonly reference?: Uint8Array | ReadonlyArray<Uint8Array> | undefined
  /** How closely the reference is kept. Default `low`. */
  readonly fidelity?: "high" | "low" | undefined
  /** Muted colours and film grain, like a photograph. */
  readonly raw?: boolean | undefined
  /** True to write the project's name at the bottom right. */
  readonly watermark?: boolean | undefined
  /** The number of shapes, and the quality of JPEG and WEBP. Default `medium`. */
  readonly quality?: "low" | "medium" | "high" | undefined
}

export const IMAGE_LIMITS: SizeLimits = {
  minSide: 16,
  maxSide: 8_192,
  maxPixels: 4_096 * 4_096
}

/** The maximum number of pictures in one request. */
export const MAX_PAINTED = 15

/** The opacity of the scene over the reference, 0 to 1. */
const SCENE_OVER_REFERENCE = { high: 0.12, low: 0.5 } as const

const QUALITY = {
  low: { detail: 0.6, quality: 72 },
  medium: { detail: 1, quality: 85 },
  high: { detail: 1.6, quality: 95 }
} as const

/** Pictures drawn at a time: each takes about 70 MB at 4,096 × 4,096. */
const CONCURRENCY = 2
const drawing = Semaphore.makeUnsafe(CONCURRENCY)

const drawPicture = async (
  sharp: Sharp,
  request: PaintRequest,
  reference: Pixels | undefined
): Promise<Uint8Array> => {
  const {
    fidelity = "low",
    format,
    height,
    prompt,
    quality = "medium",
    raw = false,
    seed = 0,
    width
  } = request
  const { detail, quality: compression } = QUALITY[quality]
  const size = { width, height }
  const scene = sceneOf({ prompt, seed, width, height, raw, detail })(0)
  const over = reference === undefined ? [] : [{ input: svgOf(size, scene, SCENE_OVER_REFERENCE[fidelity]) }]
  const grain = raw ? [grainOf(seed, size)] : []
  const mark = request.watermark === true ? [{ input: watermark(size), gravity: "southeast" } as const] : []
  const base =
    reference === undefined
      ? sharp(svgOf(size, scene))
      : sharp(reference.data, { raw: { ...size, channels: 3 } })
  const picture = base
    .composite([...over, ...grain, ...mark])
    .removeAlpha()
    // The file says that it is generated.
    .withExif({ IFD0: { Software: `Sluice, ${painterModel.id}`, ImageDescription: painterModel.note } })
  switch (format) {
    case "png":
      return picture.png({ compressionLevel: 6 }).toBuffer()
    case "jpeg":
      return picture.jpeg({ quality: compression, chromaSubsampling: "4:4:4" }).toBuffer()
    case "webp":
      return picture.webp({ quality: compression, effort: 1 }).toBuffer()
  }
}

const checkRequest = Effect.fnUntraced(function* (request: PaintRequest) {
  yield* checkSize("images", request, IMAGE_LIMITS)
  yield* checkSeed("images", request.seed ?? 0)
  return yield* referencesOf("images", request.reference)
})

/**
 * Checks a request as `paint` does, without drawing: size, seed, and the headers of references. Fails as `paint` does.
 */
export const checkPaint = (request: PaintRequest): Effect.Effect<void, GatewayError> =>
  Effect.asVoid(checkRequest(request))

/**
 * Draws one picture as a PNG, JPEG or WEBP file.
 *
 * **Details.** Procedural: the hash of the prompt and the seed choose a landscape, water, circles or ribbons and their
 * layout. Of the prompt it understands only colour words and a few words for water, land and sky. The same request gives
 * the same bytes with the same version of sharp. It is drawn outside the main thread, two pictures at a time.
 *
 * **Gotchas.** Needs the optional package sharp.
 *
 * Fails with `InvalidRequest` for an invalid size, seed or reference.
 */
export const paint = Effect.fn("sluice.paint")(function* (request: PaintRequest) {
  const references = yield* checkRequest(request)
  const sharp = yield* loadSharp("images")
  const decoded = Effect.tryPromise({
    try: () => referencePixels(sharp, references, request),
    catch: (cause) => invalidReference("images", decodingError(cause))
  })
  const draw = Effect.gen(function* () {
    const reference = references.length === 0 ? undefined : yield* decoded
    return yield* Effect.tryPromise({
      try: () => drawPicture(sharp, request, reference),
      catch: (cause) => {
        const message = `The picture could not be drawn: ${String(cause)}. Please report it.`
        return new GatewayError({
          operation: "images",
          reason: new ServerFailure({ message, status: 500, final: true })
        })
      }
    })
  })
  // Drawing cannot be cancelled, so it keeps its permit to the end.
  return yield* drawing.withPermit(Effect.uninterruptible(draw))
})

/** Draws `count` pictures, 1 to 15, with the seeds `seed`, `seed + 1` and so on. See `paint`. */
export const paintMany = Effect.fn("sluice.paintMany")(function* (request: PaintRequest, count: number) {
  if (!Number.isInteger(count) || count < 1 || count > MAX_PAINTED) {
    return yield* invalidRequest(
      "images",
      `${count} is not a valid number of pictures: give 1 to ${MAX_PAINTED}.`,
      "n"
    )
  }
  const { seed = 0 } = request
  const requests = Array.from({ length: count }, (_, i) => ({ ...request, seed: seed + i }))
  return yield* Effect.forEach(requests, paint, { concurrency: CONCURRENCY })
})
