/** Procedural pictures as PNG, JPEG or WEBP files. */
import type { GatewayError } from "@sluice/core"
import type { ImageFormat } from "@sluice/core/media"
import { makeFairQueue, WorkerUser } from "@sluice/core/workers"
import { Effect } from "effect"
import {
  checkRequest,
  drawingFailure,
  invalidReference,
  invalidRequest,
  loadSharp,
  type Sharp,
  type Size,
  type SizeLimits
} from "./MediaRequest.ts"
import { type Pixels, referencePixels, decodingError } from "./ReferencePixels.ts"
import { sceneOf, svgOf } from "./Scene.ts"
import { randomOf } from "./drawing/Random.ts"
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

export const IMAGE_LIMITS: SizeLimits = { minSide: 16, maxSide: 8_192, maxPixels: 4_096 * 4_096 }

/** The maximum number of pictures in one request. */
export const MAX_PAINTED = 15

/** The opacity of the scene over the reference, 0 to 1. */
const SCENE_OVER_REFERENCE = { high: 0.12, low: 0.5 } as const

const QUALITY = {
  low: { detail: 0.6, quality: 72 },
  medium: { detail: 1, quality: 85 },
  high: { detail: 1.6, quality: 95 }
} as const

/** The sides of the tile of film grain in pixels: large enough that the repetition does not show. */
const GRAIN_SIDE = 256
/** Opacity, 0 to 255. */
const GRAIN_ALPHA = 72

/** A layer of film grain: a tile that repeats over the picture. */
const grainOf = (seed: number, picture: Size) => {
  const { between } = randomOf("grain", seed)
  // sharp refuses a tile larger than the picture.
  const width = Math.min(GRAIN_SIDE, picture.width)
  const height = Math.min(GRAIN_SIDE, picture.height)
  const input = Buffer.alloc(width * height * 4, GRAIN_ALPHA)
  for (let i = 0; i < input.length; i += 4) {
    input.fill(Math.round((between(0, 255) + between(0, 255)) / 2), i, i + 3)
  }
  const raw = { width, height, channels: 4 } as const
  return { input, raw, tile: true, gravity: "northwest", blend: "overlay" } as const
}

/** Pictures drawn at a time: each takes about 70 MB at 4,096 × 4,096. */
const CONCURRENCY = 2
const inTurn = makeFairQueue(CONCURRENCY, CONCURRENCY)

const drawPicture = async (
  sharp: Sharp,
  request: PaintRequest,
  reference: Pixels | undefined
): Promise<Uint8Array> => {
  const { format, height, prompt, raw = false, seed = 0, width } = request
  const { detail, quality } = QUALITY[request.quality ?? "medium"]
  const size = { width, height }
  const scene = sceneOf({ prompt, seed, ...size, raw, detail })(0)
  const opacity = SCENE_OVER_REFERENCE[request.fidelity ?? "low"]
  const over = reference === undefined ? [] : [{ input: svgOf(size, scene, opacity) }]
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
      return picture.jpeg({ quality, chromaSubsampling: "4:4:4" }).toBuffer()
    case "webp":
      return picture.webp({ quality, effort: 1 }).toBuffer()
  }
}

/**
 * Checks a request as `paint` does, without drawing: size, seed, and the headers of references. Fails as `paint` does.
 */
export const checkPaint = (request: PaintRequest): Effect.Effect<void, GatewayError> =>
  Effect.asVoid(checkRequest("images", request, IMAGE_LIMITS))

/**
 * Draws one picture as a PNG, JPEG or WEBP file.
 *
 * **Details.** Procedural: the hash of the prompt and the seed choose a landscape or water and its layout. Of the prompt it
 * understands only colour words and a few words for water, land and sky. The same request gives the same bytes with the same
 * version of sharp. It is drawn outside the main thread, two pictures at a time. Users (`WorkerUser`) come in turn.
 *
 * **Gotchas.** Needs the optional package sharp.
 *
 * Fails with `InvalidRequest` for an invalid size, seed or reference.
 */
export const paint = Effect.fn("sluice.paint")(function* (request: PaintRequest) {
  const references = yield* checkRequest("images", request, IMAGE_LIMITS)
  const sharp = yield* loadSharp("images")
  const decoded = Effect.tryPromise({
    try: () => referencePixels(sharp, references, request),
    catch: (cause) => invalidReference("images", decodingError(cause))
  })
  const draw = Effect.gen(function* () {
    const reference = references.length === 0 ? undefined : yield* decoded
    return yield* Effect.tryPromise({
      try: () => drawPicture(sharp, request, reference),
      catch: (cause) =>
        drawingFailure("images", `The picture could not be drawn: ${String(cause)}. Please report it.`)
    })
  })
  // Drawing cannot be cancelled, so it keeps its permit to the end.
  return yield* inTurn(yield* WorkerUser, Effect.uninterruptible(draw))
})

/** Draws `count` pictures, 1 to 15, with the seeds `seed`, `seed + 1` and so on. See `paint`. */
export const paintMany = Effect.fn("sluice.paintMany")(function* (request: PaintRequest, count: number) {
  if (!Number.isInteger(count) || count < 1 || count > MAX_PAINTED) {
    const message = `${count} is not a valid number of pictures: give 1 to ${MAX_PAINTED}.`
    return yield* invalidRequest("images", message, "n")
  }
  const { seed = 0 } = request
  const requests = Array.from({ length: count }, (_, i) => ({ ...request, seed: seed + i }))
  return yield* Effect.forEach(requests, paint, { concurrency: CONCURRENCY })
})
