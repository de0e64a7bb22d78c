/** The worker thread that makes one film. */
import encoding from "h264-mp4-encoder"
import { getPriority, setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import sharp from "sharp"
import { fastStart } from "./FastStart.ts"
import { panZoomOf } from "./PanZoom.ts"
import { randomOf } from "./drawing/Random.ts"
import { type Pixels, referencePixels, decodingError } from "./ReferencePixels.ts"
import { sceneOf, svgOf } from "./Scene.ts"

export interface AnimatorJob {
  readonly prompt: string
  readonly seed: number
  /** In pixels, even. */
  readonly width: number
  readonly height: number
  readonly frames: number
  readonly framesPerSecond: number
  /** PNG, JPEG or WEBP. */
  readonly references: ReadonlyArray<Uint8Array>
}

/** The progress, and in the end the film; or why a reference is invalid. */
export type AnimatorMessage =
  | { readonly drawn: number; readonly mp4?: Uint8Array }
  | { readonly invalidReference: string }

/** Frames between two progress messages. */
const PROGRESS_INTERVAL = 6
/** The encoder's speed, 0 (slow, fine) to 10. Smooth surfaces show no difference. */
const SPEED = 10
/** 10 (fine) to 51 (coarse). From 28 the sky shows banding. */
const QUANTIZATION = 25
/** References are decoded larger than the film by this factor, because the camera zooms in. */
const REFERENCE_SCALE = 1.2
/** The opacity of the scene over the reference, 0 to 1. */
const SCENE_OVER_REFERENCE = 0.2

const post = (message: AnimatorMessage, transfer: ReadonlyArray<ArrayBuffer> = []): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message, transfer)
}

/** Blends the scene over the still, in place. sharp takes 80 ms for a frame of 720p, this 4 ms. */
const blendOver = (scene: Uint8Array, still: Uint8Array): Uint8Array => {
  const share = Math.round(256 * SCENE_OVER_REFERENCE)
  for (let i = 0; i < scene.length; i++) {
    const beneath = still[i] as number
    scene[i] = beneath + ((((scene[i] as number) - beneath) * share) >> 8)
  }
  return scene
}

/** Draws frames as RGBA, one call at a time. */
const framesOf = (
  job: AnimatorJob,
  reference: Pixels | undefined
): ((frame: number) => Promise<Uint8Array>) => {
  const { frames, framesPerSecond } = job
  const scene = sceneOf(job)
  const moment = (frame: number) =>
    sharp(svgOf(job, scene(frame / framesPerSecond)))
      .ensureAlpha()
      .raw()
      .toBuffer()
  if (reference === undefined) return moment
  const still = panZoomOf(reference, job, randomOf(job.prompt, job.seed))
  return async (frame) => blendOver(await moment(frame), still(frames > 1 ? frame / (frames - 1) : 0))
}

const make = async (job: AnimatorJob): Promise<void> => {
  const size = {
    width: Math.ceil(job.width * REFERENCE_SCALE),
    height: Math.ceil(job.height * REFERENCE_SCALE)
  }
  const decode = () => referencePixels(sharp, job.references, size).catch(decodingError)
  const reference = job.references.length === 0 ? undefined : await decode()
  if (typeof reference === "string") return post({ invalidReference: reference })
  const encoder = await encoding.createH264MP4Encoder()
  encoder.width = job.width
  encoder.height = job.height
  encoder.frameRate = job.framesPerSecond
  encoder.speed = SPEED
  encoder.quantizationParameter = QUANTIZATION
  // One key frame per second.
  encoder.groupOfPictures = job.framesPerSecond
  encoder.initialize()
  const draw = framesOf(job, reference)
  let next = draw(0)
  for (let frame = 0; frame < job.frames; frame++) {
    const pixels = await next
    // sharp draws the next frame while this thread encodes.
    if (frame + 1 < job.frames) next = draw(frame + 1)
    encoder.addFrameRgba(pixels)
    if ((frame + 1) % PROGRESS_INTERVAL === 0 && frame + 1 < job.frames) post({ drawn: frame + 1 })
  }
  encoder.finalize()
  const mp4 = fastStart(encoder.FS.readFile(encoder.outputFilename), job.framesPerSecond)
  encoder.FS.unlink(encoder.outputFilename)
  encoder.delete()
  post({ drawn: job.frames, mp4 }, [mp4.buffer as ArrayBuffer])
}

/** Requests that the process serves in the meantime come before frames. */
const NICENESS = 10

// Only Linux sets the priority of the thread; elsewhere it would be the whole process's. It can only be lowered.
if (process.platform === "linux" && getPriority() < NICENESS) setPriority(NICENESS)

await make(workerData as AnimatorJob)
