/** Images of the gateway, as a program asks for them: `gateway.images`. */
import { Duration, type Effect, type Schedule } from "effect"
import type { Extra } from "../contract/Fields.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { ImageCall, ImageGroup } from "../contract/ImageModels.ts"
import type { LoadedImage } from "../media/ImageFormat.ts"

/** How an image is waited for where the model answers in two steps; what is not given is the client's own. */
export interface ImageWaitOptions {
  /** The wait before each look at the task, as a duration or as a schedule; 5 seconds. */
  readonly every?: Duration.Input | Schedule.Schedule<unknown>
  /** From the start of `generate`, or of `resume`, to the images; 10 minutes. */
  readonly deadline?: Duration.Input
}

/** Used in practice, the interface says. */
export const IMAGE_POLL_INTERVAL = Duration.seconds(5)

/** Images take seconds, the slowest of them a minute or two: whoever still waits after ten should know. */
export const IMAGE_DEADLINE = Duration.minutes(10)

/**
 * How long one creation may take, for models that answer at once, where the client's `attemptTimeout` is not given.
 *
 * Longer than for other calls: an image that is given up is paid for all the same, and is not asked for again.
 */
export const IMAGE_CREATION_TIMEOUT = Duration.minutes(5)

/** How long a link to an image of group I4 lives. Of the other groups the interface does not say. */
export const IMAGE_LINK_LIFETIME = Duration.hours(24)

/**
 * One image that was made: a link to it, its bytes in Base64, or both. Plain data, to be kept or sent on.
 *
 * **When to use.** `gateway.images.load(image)` has its bytes, `gateway.images.save(image, path)` writes them, whichever
 * of the two it carries.
 */
export interface GeneratedImage {
  /** http or https. */
  readonly url?: string
  /** Bare, without the head of a data URI; not yet decoded. */
  readonly base64?: string
  /** Until when the link lives, at the latest, in ms since 1970; absent where nobody says. */
  readonly expiresAt?: number
  /** What the gateway says of this image beyond the interface, such as `revised_prompt`. */
  readonly extra?: Extra
}

/** An entry of an answer that carries no image. */
export interface ImageFault {
  /** Its position in the answer, from 0. */
  readonly index: number
  readonly message: string
}

/** What the gateway says of images that it was asked for: they are here, or they are a task under way. */
export interface ImageAnswer {
  /** Of the task, where the model answers in two steps. */
  readonly id?: string
  /** `completed`, `failed`, or a word of the gateway's own. */
  readonly status?: string
  /** In the gateway's order. */
  readonly images: ReadonlyArray<GeneratedImage>
  /** Entries without an image, where a gateway makes some and refuses others. */
  readonly faults: ReadonlyArray<ImageFault>
  /** Why the task failed, as it came. */
  readonly error?: unknown
  /** What the answer says beyond the interface, such as `created` and `usage`. */
  readonly extra?: Extra
}

/** What a task does not say of itself. */
export interface ImageOrigin {
  /** The group of the model that makes it: of I4 it is known when its links end. */
  readonly group?: ImageGroup | undefined
}

/**
 * Images: made at once or as tasks, waited for, loaded, saved.
 *
 * **Details.** A creation costs money and is made again only where the first surely did not happen; looks and downloads
 * are retried like every read. A task goes on at the gateway whatever happens here: the error of a failed wait and the
 * log of an interrupted one name its id, and `resume` takes it up again, in another process as well.
 *
 * ```ts
 * const { images } = yield* gateway.images.generate({ group: "I4", model, prompt: "A lock, open", n: 2 })
 * for (const [at, image] of images.entries()) yield* gateway.images.save(image, `lock-${at}.png`)
 * ```
 */
export interface Images {
  /**
   * `POST /v1/images/generations`: does not wait. The answer has images, or the `id` of a task.
   *
   * **Details.** What the group does not take, and an image that cannot be sent, is `InvalidRequest` before anything is
   * sent. Files are read here. Whoever writes the `id` down can `resume` it after a crash.
   */
  readonly create: (call: ImageCall) => Effect.Effect<ImageAnswer, GatewayError>
  /** `GET /v1/images/generations/{id}`: the task as it is now. One that failed is no error here. */
  readonly get: (id: string, origin?: ImageOrigin) => Effect.Effect<ImageAnswer, GatewayError>
  /**
   * Makes images and waits for them, whether the model answers at once or in two steps: at least one.
   *
   * **Details.** `failed` is `TaskFailed`, the deadline `TimedOut`, `completed` without an image `InvalidResponse`. Other
   * statuses are waited for until there are images. A task that says that it is under way (`queued`, `in_progress`,
   * `processing`, `pending`, `running`) may have more to give than it shows: it is waited for, and at the deadline the
   * images that have come are the answer.
   *
   * **Gotchas.** Interrupted before its answer, as by `Effect.timeout`, a creation may go on at the gateway and be paid
   * for. Where the gateway honours `Idempotency-Key`, `withIdempotencyKey` with the same key fetches what was made.
   * Many or large images as Base64 may be more than `maxResponseBytes` (64 MB) lets through, and are paid for:
   * ask for links, or raise it.
   */
  readonly generate: (
    call: ImageCall,
    patience?: ImageWaitOptions
  ) => Effect.Effect<ImageAnswer, GatewayError>
  /** Waits for a task that was made before. */
  readonly resume: (
    id: string,
    patience?: ImageWaitOptions & ImageOrigin
  ) => Effect.Effect<ImageAnswer, GatewayError>
  /**
   * The bytes of an image, its format and its size, from its Base64 or else from its link.
   *
   * **Details.** The API key goes to the gateway's own address alone, never to another host and never along a redirect to
   * one. A link that has ended is `NotFound`; what is no PNG, JPEG or WEBP is `InvalidResponse`.
   */
  readonly load: (image: GeneratedImage) => Effect.Effect<LoadedImage, GatewayError>
  /** The same to a file, which is there when it is whole and never before; what was there is replaced. */
  readonly save: (image: GeneratedImage, path: string) => Effect.Effect<LoadedImage, GatewayError>
}
