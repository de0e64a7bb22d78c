/** The thread in which films are made, one film long; nothing imports it. */
import encoding from "h264-mp4-encoder"
import { getPriority, setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import sharp from "sharp"
import { fastStart } from "./FastStart.ts"
import { panZoomOf } from "./PanZoom.ts"
import { randomOf } from "./drawing/Random.ts"
import { type Pixels, referencePixels, whyNotDecoded } from "./ReferencePixels.ts"
import { sceneOf, svgOf } from "./Scene.ts"

/** The film to make. */
export interface AnimatorJob {
  readonly prompt: string
  readonly seed: number
  /** In pixels, even. */
  readonly width: number
  readonly height: number
  readonly frames: number
  readonly framesPerSecond: number
  /** PNG, JPEG or WEBP to start from, by their headers. */
  readonly references: ReadonlyArray<Uint8Array>
}

/** How far it is; in the end the film. Or what is wrong with a reference. */
export type AnimatorAnswer =
  | { readonly drawn: number; readonly mp4?: Uint8Array }
  | { readonly refused: string }

/** Frames between two answers. */
const ANSWER_EVERY = 6
/** 10 coarse and fast to 0 fine and slow; smooth surfaces show no difference. */
const SPEED = 10
/** 10 fine to 51 coarse: below 28 for the sake of the sky, which shows steps. */
const QUANTIZATION = 25
/** How much of the scene lies over the reference, 0 to 1. */
const SCENE_OVER_REFERENCE = 0.2

const answer = (one: AnimatorAnswer, transfer: ReadonlyArray<ArrayBuffer> = []): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(one, transfer)
}

/** Lays the still over the scene, in the scene's bytes. By hand: sharp takes 80 ms for a frame of 720p, this takes 4. */
const laidOver = (scene: Uint8Array, still: Uint8Array): Uint8Array => {
  const share = Math.round(256 * SCENE_OVER_REFERENCE)
  for (let i = 0; i < scene.length; i++) {
    const beneath = still[i] as number
    scene[i] = beneath + ((((scene[i] as number) - beneath) * share) >> 8)
  }
  return scene
}

/** Four bytes a pixel; the next frame is asked for when the last one has come. */
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
  return async (frame) => laidOver(await moment(frame), still(frames > 1 ? frame / (frames - 1) : 0))
}

/** The references' pixels, more than the film has, for the eye comes nearer; or why there are none. */
const decoded = ({ height, references, width }: AnimatorJob): Promise<Pixels | string | undefined> =>
  references.length === 0
    ? Promise.resolve(undefined)
    : referencePixels(sharp, references, {
        width: Math.ceil(width * 1.2),
        height: Math.ceil(height * 1.2)
      }).catch(whyNotDecoded)

const make = async (job: AnimatorJob): Promise<void> => {
  const reference = await decoded(job)
  if (typeof reference === "string") return answer({ refused: reference })
  const encoder = await encoding.createH264MP4Encoder()
  encoder.width = job.width
  encoder.height = job.height
  encoder.frameRate = job.framesPerSecond
  encoder.speed = SPEED
  encoder.quantizationParameter = QUANTIZATION
  // A second to the next frame that can be jumped to.
  encoder.groupOfPictures = job.framesPerSecond
  encoder.initialize()
  const draw = framesOf(job, reference)
  let next = draw(0)
  for (let frame = 0; frame < job.frames; frame++) {
    const pixels = await next
    // Drawn elsewhere while this thread encodes.
    if (frame + 1 < job.frames) next = draw(frame + 1)
    encoder.addFrameRgba(pixels)
    if ((frame + 1) % ANSWER_EVERY === 0 && frame + 1 < job.frames) answer({ drawn: frame + 1 })
  }
  encoder.finalize()
  const mp4 = fastStart(encoder.FS.readFile(encoder.outputFilename), job.framesPerSecond)
  encoder.FS.unlink(encoder.outputFilename)
  encoder.delete()
  answer({ drawn: job.frames, mp4 }, [mp4.buffer as ArrayBuffer])
}

/** Nobody waits for a frame, but callers do for the answers that the process gives meanwhile. */
const NICENESS = 10

// Of this thread alone, as Linux has it; elsewhere it would be the whole process's. Higher one may not set it oneself.
if (process.platform === "linux" && getPriority() < NICENESS) setPriority(NICENESS)

await make(workerData as AnimatorJob)
