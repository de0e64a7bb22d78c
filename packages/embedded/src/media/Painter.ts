/** Pictures drawn in this process: real files, from the words' hash and a seed. */
import { GatewayError, ServerFailure } from "@sluice/core"
import type { ImageFormat } from "@sluice/core/media"
import { Effect, Semaphore } from "effect"
import { grainOf } from "./Grain.ts"
import { checkSeed, checkSize, refuse, type SizeLimits } from "./MediaRequest.ts"
import { referencesOf, refuseReference } from "./Reference.ts"
import { type Pixels, referencePixels, whyNotDecoded } from "./ReferencePixels.ts"
import { sceneOf, svgOf } from "./Scene.ts"
import { loadSharp, type Sharp } from "./Sharp.ts"
import { watermark } from "./Watermark.ts"

/** What this painter is, for lists of models. */
export const painterModel = {
  id: "sluice-procedural-image",
  kind: "procedural",
  note: "procedural: drawn from the words' hash and the seed, no understanding"
} as const

/** A picture to draw. */
export interface PaintRequest {
  /** Its hash gives the composition and the palette. Colour words, English or Chinese, are honoured. */
  readonly prompt: string
  /** In pixels: a side 16 to 8,192, the whole 4,096 × 4,096 at most. */
  readonly width: number
  readonly height: number
  readonly format: ImageFormat
  /** A whole number; 0 when not given. */
  readonly seed?: number | undefined
  /** A PNG, JPEG or WEBP to start from, at most 20 MB, cut to the size; or several, which stand side by side. */
  readonly reference?: Uint8Array | ReadonlyArray<Uint8Array> | undefined
  /** How closely the reference is kept; `low` when not given. */
  readonly fidelity?: "high" | "low" | undefined
  /** Calmer colours, and grain: more of a photograph, less of a poster. */
  readonly raw?: boolean | undefined
  /** The project's name at the bottom right. */
  readonly watermark?: boolean | undefined
  /** How many shapes there are, and how well JPEG and WEBP keep them; `medium` when not given. */
  readonly quality?: "low" | "medium" | "high" | undefined
}

export const IMAGE_LIMITS: SizeLimits = {
  sideAtLeast: 16,
  sideAtMost: 8_192,
  pixelsAtMost: 4_096 * 4_096
}

/** Pictures of one request at most. */
export const MAX_PAINTED = 15

/** How much of the scene lies over the reference, 0 to 1. */
const SCENE_OVER_REFERENCE = { high: 0.12, low: 0.5 } as const

const QUALITY = {
  low: { detail: 0.6, kept: 72 },
  medium: { detail: 1, kept: 85 },
  high: { detail: 1.6, kept: 95 }
} as const

/** Each holds about 70 MB at 4,096 × 4,096, so that others wait. */
const AT_ONCE = 2
const turns = Semaphore.makeUnsafe(AT_ONCE)

const drawn = async (
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
  const { detail, kept } = QUALITY[quality]
  const size = { width, height }
  const scene = sceneOf({ prompt, seed, width, height, raw, detail })(0)
  const over = reference === undefined ? [] : [{ input: svgOf(size, scene, SCENE_OVER_REFERENCE[fidelity]) }]
  const grain = raw ? [grainOf(seed, size)] : []
  const mark = request.watermark === true ? [{ input: watermark(size), gravity: "southeast" } as const] : []
  const base =
    reference === undefined
      ? sharp(svgOf(size, scene))
      : sharp(reference.data, { raw: { ...size, channels: 3 } })
  const whole = base
    .composite([...over, ...grain, ...mark])
    .removeAlpha()
    // Whoever opens the file can know what it is.
    .withExif({ IFD0: { Software: `Sluice, ${painterModel.id}`, ImageDescription: painterModel.note } })
  switch (format) {
    case "png":
      return whole.png({ compressionLevel: 6 }).toBuffer()
    case "jpeg":
      return whole.jpeg({ quality: kept, chromaSubsampling: "4:4:4" }).toBuffer()
    case "webp":
      return whole.webp({ quality: kept, effort: 1 }).toBuffer()
  }
}

const checked = Effect.fnUntraced(function* (request: PaintRequest) {
  yield* checkSize("images", request, IMAGE_LIMITS)
  yield* checkSeed("images", request.seed ?? 0)
  return yield* referencesOf("images", request.reference)
})

/**
 * Whether `paint` takes a request: size, seed, and what the headers of its references say. Nothing is decoded or drawn;
 * fails as `paint` does.
 */
export const checkPaint = (request: PaintRequest): Effect.Effect<void, GatewayError> =>
  Effect.asVoid(checked(request))

/**
 * Draws one picture, as a PNG, JPEG or WEBP file.
 *
 * **Details.** Procedural: landscapes, water, circles and ribbons, chosen and laid out by the hash of the prompt and the
 * seed, without any understanding of the prompt beyond a list of colour words and of a few words for water, land and
 * sky. The same request gives the same bytes, with the same version of sharp. It is drawn outside the thread that asks;
 * two at a time, others wait.
 *
 * **Gotchas.** Needs the optional package sharp.
 *
 * Fails with `InvalidRequest` for a size or seed that cannot be, and for a reference that cannot be read.
 */
export const paint = Effect.fn("sluice.paint")(function* (request: PaintRequest) {
  const references = yield* checked(request)
  const sharp = yield* loadSharp("images")
  const decoded = Effect.tryPromise({
    try: () => referencePixels(sharp, references, request),
    catch: (cause) => refuseReference("images", whyNotDecoded(cause))
  })
  const draw = Effect.gen(function* () {
    const reference = references.length === 0 ? undefined : yield* decoded
    return yield* Effect.tryPromise({
      try: () => drawn(sharp, request, reference),
      catch: (cause) => {
        const message = `The picture could not be drawn: ${String(cause)}. Please report it.`
        return new GatewayError({
          operation: "images",
          reason: new ServerFailure({ message, status: 500, final: true })
        })
      }
    })
  })
  // What is being drawn cannot be called back: it keeps its turn to the end.
  return yield* turns.withPermit(Effect.uninterruptible(draw))
})

/** Draws `count` pictures, 1 to 15, with the seeds `seed`, `seed + 1` and so on. See `paint`. */
export const paintMany = Effect.fn("sluice.paintMany")(function* (request: PaintRequest, count: number) {
  if (!Number.isInteger(count) || count < 1 || count > MAX_PAINTED) {
    return yield* refuse("images", `${count} pictures cannot be drawn: ask for 1 to ${MAX_PAINTED}.`, "n")
  }
  const { seed = 0 } = request
  const requests = Array.from({ length: count }, (_, i) => ({ ...request, seed: seed + i }))
  return yield* Effect.forEach(requests, paint, { concurrency: AT_ONCE })
})
