/** Films made in a thread of this process: real H.264 in MP4, from the words' hash and a seed. */
import { Worker } from "node:worker_threads"
import { createRequire } from "node:module"
import { GatewayError, ServerFailure } from "@sluice/core"
import { Effect, Option, Queue, Semaphore, Stream } from "effect"
import type { AnimatorAnswer, AnimatorJob } from "./AnimatorWorker.ts"
import { checkSeed, checkSize, refuse, type SizeLimits } from "./MediaRequest.ts"
import { optionalPackage } from "./optionalPackage.ts"
import { referencesOf, refuseReference } from "./Reference.ts"
import { loadSharp } from "./Sharp.ts"

/** What this animator is, for lists of models. */
export const animatorModel = {
  id: "sluice-procedural-video",
  kind: "procedural",
  note: "procedural: drawn from the words' hash and the seed, no understanding; no sound"
} as const

/** A film to make. */
export interface AnimateRequest {
  /** Its hash gives the composition and the palette. Colour words, English or Chinese, are honoured. */
  readonly prompt: string
  /** Above 0, at most 15; to the nearest 24th. */
  readonly seconds: number
  /** In pixels: a side 16 to 4,096, the whole 4,096 × 2,304 at most. H.264 wants even sides: an odd one loses a pixel. */
  readonly width: number
  readonly height: number
  /** A whole number; 0 when not given. */
  readonly seed?: number | undefined
  /** A PNG, JPEG or WEBP over which the eye wanders, at most 20 MB, cut to the shape; or several, side by side. */
  readonly reference?: Uint8Array | ReadonlyArray<Uint8Array> | undefined
}

/** How a film comes along. */
export interface Animation {
  /** Frames that are made. */
  readonly drawn: number
  /** Frames that the film has: 24 a second. */
  readonly frames: number
  /** The film; in the last one alone. */
  readonly mp4?: Uint8Array
}

export const FRAMES_PER_SECOND = 24

/** The longest film that a gateway's models make. */
export const MAX_SECONDS = 15

export const VIDEO_LIMITS: SizeLimits = { sideAtLeast: 16, sideAtMost: 4_096, pixelsAtMost: 4_096 * 2_304 }

/** One core draws, one encodes: a second film at once would make neither sooner. */
const turn = Semaphore.makeUnsafe(1)

/** The same file as source and as built. */
const entry = new URL(
  import.meta.url.endsWith(".ts") ? "./AnimatorWorker.ts" : "./AnimatorWorker.js",
  import.meta.url
)

const even = (side: number) => side - (side % 2)

const broken = (cause: unknown) => {
  const message = `Making the film broke its thread: ${String(cause)}. Make it smaller; if that does not help, please report it.`
  return new GatewayError({
    operation: "videos",
    reason: new ServerFailure({ message, status: 500, final: true })
  })
}

/** Runs one job in a thread of its own; interruption ends the thread. */
const make = (job: AnimatorJob, queue: Queue.Enqueue<Animation>): Effect.Effect<unknown, GatewayError> =>
  Effect.callback((resume) => {
    // What Node was started with is not for this thread, which imports no other package of the project.
    const worker = new Worker(entry, { execArgv: [], name: "sluice-film", workerData: job })
    // The next film waits until this one's memory is free.
    const end = Effect.promise(() => worker.terminate())
    worker.on("message", (answer: AnimatorAnswer) => {
      if ("refused" in answer) {
        resume(Effect.andThen(end, Effect.fail(refuseReference("videos", answer.refused))))
      } else {
        Queue.offerUnsafe(queue, { ...answer, frames: job.frames })
        if (answer.mp4 !== undefined) resume(end)
      }
    })
    worker.on("error", (cause) => resume(Effect.fail(broken(cause))))
    worker.on("exit", (code) => resume(Effect.fail(broken(`it ended with code ${code}`))))
    return end
  })

const jobOf = Effect.fn("sluice.animation")(function* (request: AnimateRequest) {
  const { prompt, seconds, seed = 0 } = request
  yield* checkSize("videos", request, VIDEO_LIMITS)
  yield* checkSeed("videos", seed)
  if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
    const message = `A film of ${seconds} seconds cannot be made: ask for more than 0 and at most ${MAX_SECONDS}.`
    return yield* refuse("videos", message, "seconds")
  }
  const references = yield* referencesOf("videos", request.reference)
  // Loaded in the main thread too: a native library that only a thread has loaded is gone with it.
  yield* loadSharp("videos")
  // Found, not loaded: it takes over the process's handlers of uncaught errors.
  yield* optionalPackage("videos")("h264-mp4-encoder", async () =>
    createRequire(import.meta.url).resolve("h264-mp4-encoder")
  )
  const size = { width: even(request.width), height: even(request.height) }
  const frames = Math.max(1, Math.round(seconds * FRAMES_PER_SECOND))
  return {
    prompt,
    seed,
    ...size,
    frames,
    framesPerSecond: FRAMES_PER_SECOND,
    references
  } satisfies AnimatorJob
})

/**
 * Whether `animate` takes a request: size, length, seed, packages, and what the headers of its references say. Nothing is
 * decoded or drawn; fails as `animate` does.
 */
export const checkAnimate = (request: AnimateRequest): Effect.Effect<void, GatewayError> =>
  Effect.asVoid(jobOf(request))

/**
 * Makes a film and tells how it comes along; the last element has it.
 *
 * **Details.** H.264 Baseline, 24 frames a second, no sound, `moov` before `mdat`. Frames are moments of the scene that
 * `paint` draws for the same prompt and seed; with a reference, the eye wanders over it. The film is made in a thread of
 * its own, which ends with it; one at a time, others wait. Who stops listening ends the thread.
 *
 * **Gotchas.** Needs the optional packages sharp and h264-mp4-encoder. It keeps the film in memory, a few megabytes.
 *
 * Fails with `InvalidRequest` for a size, length or seed that cannot be, and for a reference that cannot be read.
 */
export const animation = (request: AnimateRequest): Stream.Stream<Animation, GatewayError> =>
  Stream.callback<Animation, GatewayError>((queue) =>
    turn
      .withPermit(Effect.flatMap(jobOf(request), (job) => make(job, queue)))
      .pipe(Effect.andThen(Queue.end(queue)))
  )

/** Makes a film: the bytes of an MP4. `onProgress` hears the share that is made, above 0, at most 1. See `animation`. */
export const animate = (
  request: AnimateRequest,
  onProgress: (share: number) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<Uint8Array, GatewayError> =>
  animation(request).pipe(
    Stream.tap(({ drawn, frames }) => onProgress(drawn / frames)),
    Stream.runLast,
    Effect.flatMap((last) => {
      const mp4 = Option.getOrUndefined(last)?.mp4
      return mp4 === undefined ? Effect.fail(broken("it gave no film")) : Effect.succeed(mp4)
    })
  )
