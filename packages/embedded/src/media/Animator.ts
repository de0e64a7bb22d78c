/** Procedural films: H.264 in MP4, made in a worker thread. */
import { Worker } from "node:worker_threads"
import { createRequire } from "node:module"
import type { GatewayError } from "@sluice/core"
import { makeFairQueue, moduleBeside, WorkerUser } from "@sluice/core/workers"
import { Effect, Option, Queue, Stream } from "effect"
import type { AnimatorMessage, AnimatorJob } from "./AnimatorWorker.ts"
import {
  checkRequest,
  drawingFailure,
  invalidRequest,
  loadSharp,
  type SizeLimits,
  invalidReference
} from "./MediaRequest.ts"
import { optionalPackage } from "../optionalPackage.ts"

/** The entry in lists of models. */
export const animatorModel = {
  id: "sluice-procedural-video",
  kind: "procedural",
  note: "procedural: drawn from the words' hash and the seed, no understanding; no sound"
} as const

export interface AnimateRequest {
  /** Its hash chooses the composition and the palette. English and Chinese colour words are respected. */
  readonly prompt: string
  /** Above 0, at most 15; rounded to whole frames. */
  readonly seconds: number
  /** In pixels: a side 16 to 4,096, at most 4,096 × 2,304. H.264 needs even sides: an odd one loses a pixel. */
  readonly width: number
  readonly height: number
  /** An integer. Default 0. */
  readonly seed?: number | undefined
  /** A PNG, JPEG or WEBP, at most 20 MB, over which the camera moves; or several, side by side. */
  readonly reference?: Uint8Array | ReadonlyArray<Uint8Array> | undefined
}

/** The progress of a film. */
export interface Animation {
  /** Frames drawn so far. */
  readonly drawn: number
  /** Frames in total: 24 per second. */
  readonly frames: number
  /** The film, in the last element only. */
  readonly mp4?: Uint8Array
}

export const FRAMES_PER_SECOND = 24

/** The longest film that the gateway's models make. */
export const MAX_SECONDS = 15

export const VIDEO_LIMITS: SizeLimits = { minSide: 16, maxSide: 4_096, maxPixels: 4_096 * 2_304 }

/** One film at a time: one core draws and one encodes, so a second film would make both slower. Users come in turn. */
const inTurn = makeFairQueue(1, 1)

const workerFile = moduleBeside(import.meta.url, "./AnimatorWorker")

const even = (side: number) => side - (side % 2)

const threadFailure = (cause: unknown) =>
  drawingFailure(
    "videos",
    `The thread that makes the film failed: ${String(cause)}. Try a smaller film; if it fails again, please report it.`
  )

/** Runs one job in a new thread. Interruption ends the thread. */
const make = (job: AnimatorJob, queue: Queue.Enqueue<Animation>): Effect.Effect<unknown, GatewayError> =>
  Effect.callback((resume) => {
    // Node's own options, such as conditions, are not needed: the thread imports no other package of the project.
    const worker = new Worker(workerFile, { execArgv: [], name: "sluice-film", workerData: job })
    // The next film waits for the end, so that the memory is free.
    const end = Effect.promise(() => worker.terminate())
    worker.on("message", (message: AnimatorMessage) => {
      if ("invalidReference" in message) {
        resume(Effect.andThen(end, Effect.fail(invalidReference("videos", message.invalidReference))))
      } else {
        Queue.offerUnsafe(queue, { ...message, frames: job.frames })
        if (message.mp4 !== undefined) resume(end)
      }
    })
    worker.on("error", (cause) => resume(Effect.fail(threadFailure(cause))))
    worker.on("exit", (code) => resume(Effect.fail(threadFailure(`it exited with code ${code}`))))
    return end
  })

const jobOf = Effect.fn("sluice.animation")(function* (request: AnimateRequest) {
  const { prompt, seconds, seed = 0 } = request
  const references = yield* checkRequest("videos", request, VIDEO_LIMITS)
  if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
    const message = `A film cannot last ${seconds} seconds: give more than 0 and at most ${MAX_SECONDS}.`
    return yield* invalidRequest("videos", message, "seconds")
  }
  // Loaded in the main thread too: a native library that only a thread has loaded is unloaded with it.
  yield* loadSharp("videos")
  // Resolved but not loaded: it replaces the process's handlers of uncaught errors.
  yield* optionalPackage("videos")("h264-mp4-encoder", async () =>
    createRequire(import.meta.url).resolve("h264-mp4-encoder")
  )
  const size = { width: even(request.width), height: even(request.height) }
  const frames = Math.max(1, Math.round(seconds * FRAMES_PER_SECOND))
  const job: AnimatorJob = { prompt, seed, ...size, frames, framesPerSecond: FRAMES_PER_SECOND, references }
  return job
})

/**
 * Checks a request as `animate` does, without drawing: size, length, seed, packages, and the headers of references. Fails as
 * `animate` does.
 */
export const checkAnimate = (request: AnimateRequest): Effect.Effect<void, GatewayError> =>
  Effect.asVoid(jobOf(request))

/**
 * Makes a film and emits its progress. The last element holds the film.
 *
 * **Details.** H.264 Baseline, 24 frames per second, no sound, `moov` before `mdat`. The frames show the scene that `paint`
 * draws for the same prompt and seed. With references, the camera moves over them. One film is made at a time, in a thread
 * of its own; interrupting the stream ends the thread.
 *
 * **Gotchas.** Needs the optional packages sharp and h264-mp4-encoder. The film is kept in memory, a few megabytes.
 *
 * Fails with `InvalidRequest` for an invalid size, length, seed or reference.
 */
export const animation = (request: AnimateRequest): Stream.Stream<Animation, GatewayError> =>
  Stream.callback<Animation, GatewayError>((queue) =>
    Effect.flatMap(WorkerUser, (user) =>
      inTurn(
        user,
        Effect.flatMap(jobOf(request), (job) => make(job, queue))
      )
    ).pipe(Effect.andThen(Queue.end(queue)))
  )

/** Makes a film: the bytes of an MP4. `onProgress` receives the share done, above 0, at most 1. See `animation`. */
export const animate = (
  request: AnimateRequest,
  onProgress: (share: number) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<Uint8Array, GatewayError> =>
  animation(request).pipe(
    Stream.tap(({ drawn, frames }) => onProgress(drawn / frames)),
    Stream.runLast,
    Effect.flatMap((last) => {
      const mp4 = Option.getOrUndefined(last)?.mp4
      return mp4 === undefined ? Effect.fail(threadFailure("it returned no film")) : Effect.succeed(mp4)
    })
  )
