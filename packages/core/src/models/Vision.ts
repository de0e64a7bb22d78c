/** The narrow service that answers a question about images. */
import { Context, type Effect } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { ImageFormat } from "../media/ImageFormat.ts"
import type { ImageDetail } from "../contract/Chat.ts"

/** What a program may want to know of a vision model before it uses it. */
export interface VisionModel {
  readonly id: string
  /** `extractive` models tell what stands in an image, its text and colours; `generative` ones answer the question. */
  readonly kind: "extractive" | "generative"
  /** Images of one question at most. */
  readonly maxImages: number
  /** Bytes of one image at most. */
  readonly maxImageBytes: number
  readonly formats: ReadonlyArray<ImageFormat>
}

/** How closely is looked. */
export interface LookOptions {
  /** How closely: `low` is fast and cheap, `high` precise; `auto`, the model's choice, when not given. */
  readonly detail?: ImageDetail
}

/** What was seen. */
export interface Look {
  readonly text: string
  /** Of question, images and answer together, as the model counted; 0 when free, or where it does not say. */
  readonly tokens: number
  /** Whether that answers the question, where the model knows; not given where it does not. */
  readonly answers?: boolean
}

/** A line of text in an image, and the box around it in pixels: `[x0, y0, x1, y1]`, y from the top. */
export interface SeenLine {
  readonly text: string
  readonly box: readonly [x0: number, y0: number, x1: number, y1: number]
}

/**
 * Answers a question about one or more images, which are looked at together.
 *
 * **Details.** Images are bytes; their format is read from them. Their order is kept: “the second image” is the second.
 * No image, more than `maxImages`, one above `maxImageBytes` or of another format fails with `InvalidRequest`, which
 * says which image it was, before anything is sent. `read`, where the model offers it, gives the lines written in one
 * image, in reading order, with their boxes.
 */
export class Vision extends Context.Service<
  Vision,
  {
    readonly model: VisionModel
    readonly look: (
      question: string,
      images: ReadonlyArray<Uint8Array>,
      options?: LookOptions
    ) => Effect.Effect<Look, GatewayError>
    readonly read?: (image: Uint8Array) => Effect.Effect<ReadonlyArray<SeenLine>, GatewayError>
  }
>()("@sluice/core/models/Vision") {}
