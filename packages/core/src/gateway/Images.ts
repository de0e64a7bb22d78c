/** Image generation: `gateway.images`. */
import { Duration, type Effect, type Schedule, Schema, type Stream } from "effect"
import { Extra } from "../contract/Fields.ts"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { ImageCall, ImageGroup, RuntimeImageCall } from "../contract/ImageModels.ts"
import type { LoadedImage } from "../media/ImageFormat.ts"

const { optionalKey } = Schema

/** How to wait for an image task. Defaults come from the client. */
export interface ImageWaitOptions {
  /** The poll interval, as a duration or a schedule. A schedule that ends first is a time-out. Default: 5 seconds. */
  readonly every?: Duration.Input | Schedule.Schedule<unknown> | undefined
  /** The limit from the start of `generate` or `resume`. Default: 10 minutes. */
  readonly deadline?: Duration.Input | undefined
}

/** The interval is from the interface. Most images take seconds, the slowest two minutes. */
export const IMAGE_WAIT = { every: "5 seconds", deadline: "10 minutes" } as const satisfies ImageWaitOptions

/** The lifetime of a link to an image of group I4. The interface gives none for other groups. */
export const IMAGE_LINK_LIFETIME = Duration.hours(24)

/**
 * One generated image: a link, its bytes in Base64, or both. Plain data.
 *
 * **When to use.** `gateway.images.load(image)` returns its bytes; `gateway.images.save(image, path)` writes them.
 */
const GeneratedImage = Schema.Struct({
  /** http or https. */
  url: optionalKey(Schema.String),
  /** Bare, without the head of a data URI; not yet decoded. */
  base64: optionalKey(Schema.String),
  /** The latest expiry of the link, in ms since 1970. Absent if unknown. */
  expiresAt: optionalKey(Schema.Finite),
  /** Fields of this image beyond the interface, such as `revised_prompt`. */
  extra: optionalKey(Extra)
})
export interface GeneratedImage extends Schema.Schema.Type<typeof GeneratedImage> {}

/** An entry of a response without an image. */
const ImageFault = Schema.Struct({
  /** Its position in the response, from 0. */
  index: Schema.Int,
  message: Schema.String
})
export interface ImageFault extends Schema.Schema.Type<typeof ImageFault> {}

/** The response to an image request: images, or a running task. */
export const ImageAnswer = Schema.Struct({
  /** The id of the task, for two-step models. */
  id: optionalKey(Schema.String),
  /** `completed`, `failed`, or the gateway's own value. */
  status: optionalKey(Schema.String),
  /** In the gateway's order. */
  images: Schema.Array(GeneratedImage),
  /** Entries without an image, if the gateway refused some. */
  faults: Schema.Array(ImageFault),
  /** The unchanged `error` of a failed task. */
  error: optionalKey(Schema.Json),
  /** Fields beyond the interface, such as `created` and `usage`. */
  extra: optionalKey(Extra)
})
export interface ImageAnswer extends Schema.Schema.Type<typeof ImageAnswer> {}

/**
 * Creates images, directly or as tasks; waits, loads and saves.
 *
 * **Details.** A creation is charged, and is retried only if the first attempt was not executed. Polls and downloads are
 * retried like every read. A task goes on at the gateway after a failure or an interruption: the error or the log has its
 * id, and `resume` continues it, also in another process.
 *
 * ```ts
 * const { images } = yield* gateway.images.generate({ group: "I4", model, prompt: "A lock, open", n: 2 })
 * for (const [at, image] of images.entries()) yield* gateway.images.save(image, `lock-${at}.png`)
 * ```
 */
export interface Images {
  /**
   * `POST /v1/images/generations`: does not wait. Returns images, or the `id` of a task.
   *
   * **Details.** A field that the group does not accept, or an invalid image, fails with `InvalidRequest` before sending.
   * Files are read locally. Store the `id` to `resume` after a crash.
   */
  readonly create: {
    (call: ImageCall): Effect.Effect<ImageAnswer, GatewayError>
    <const G extends ImageGroup, const N extends number, const S extends string>(
      call: RuntimeImageCall<G, N, S>
    ): Effect.Effect<ImageAnswer, GatewayError>
  }
  /**
   * `GET /v1/images/generations/{id}`: the current state of the task. A failed task is not an error.
   *
   * `group` is that of the task's model: the lifetime of links is known only for I4.
   */
  readonly get: (
    id: string,
    options?: { readonly group?: ImageGroup | undefined }
  ) => Effect.Effect<ImageAnswer, GatewayError>
  /**
   * Creates at least one image and waits for it.
   *
   * **Details.** `failed` is `TaskFailed`, the deadline `TimedOut`, `completed` without an image `InvalidResponse`. With
   * another status it waits for images. While the status is `queued`, `in_progress`, `processing`, `pending` or `running`,
   * it waits for more images, and at the deadline returns those present.
   *
   * **Gotchas.** A creation that is interrupted before its response may still run and be charged. If the gateway honours
   * `Idempotency-Key`, `withIdempotencyKey` with the same key returns its result. Many or large Base64 images may exceed
   * `maxResponseBytes` (64 MB) and are still charged: request links, or raise the limit.
   */
  readonly generate: {
    (call: ImageCall, options?: ImageWaitOptions): Effect.Effect<ImageAnswer, GatewayError>
    <const G extends ImageGroup, const N extends number, const S extends string>(
      call: RuntimeImageCall<G, N, S>,
      options?: ImageWaitOptions
    ): Effect.Effect<ImageAnswer, GatewayError>
  }
  /** Waits for an existing task. `group` as for `get`. */
  readonly resume: (
    id: string,
    options?: ImageWaitOptions & { readonly group?: ImageGroup | undefined }
  ) => Effect.Effect<ImageAnswer, GatewayError>
  /**
   * Like `generate`, or `resume` for an id, as a stream of states: each has the `status` and the images so far.
   *
   * **Details.** The first state of a two-step model has the id: store it, to resume after a crash. A model that responds at
   * once has one state. The stream fails as `generate` does; at the deadline of a task with images, it ends.
   *
   * **Gotchas.** The interface has no percentage and no removal of image tasks.
   */
  readonly progress: (
    task: ImageCall | { readonly id: string; readonly group?: ImageGroup | undefined },
    options?: ImageWaitOptions
  ) => Stream.Stream<ImageAnswer, GatewayError>
  /**
   * The bytes, format and size of an image, from its Base64 or its link.
   *
   * **Details.** The API key is sent only to the gateway's own host, also after redirects. An expired link is `NotFound`;
   * another format than PNG, JPEG or WEBP is `InvalidResponse`.
   */
  readonly load: (image: GeneratedImage) => Effect.Effect<LoadedImage, GatewayError>
  /** Writes the image to a file atomically; replaces an existing file. */
  readonly save: (image: GeneratedImage, path: string) => Effect.Effect<LoadedImage, GatewayError>
}
