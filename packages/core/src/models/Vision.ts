/** The service that answers a question about images. */
import { Context, type Effect } from "effect"
import type { GatewayError } from "../contract/GatewayError.ts"
import type { ImageFormat } from "../media/ImageFormat.ts"
import type { ImageDetail } from "../contract/Chat.ts"

/** A vision model. */
export interface VisionModel {
  readonly id: string
  /** `extractive` models list the text and colours of an image; `generative` ones answer the question. */
  readonly kind: "extractive" | "generative"
  /** The most images of one question. */
  readonly maxImages: number
  /** The most bytes of one image. */
  readonly maxImageBytes: number
  readonly formats: ReadonlyArray<ImageFormat>
}

/** The answer to a question about images. */
export interface VisionAnswer {
  readonly text: string
  /** Tokens of question, images and answer, as counted by the model; 0 if free or unknown. */
  readonly tokens: number
  /** True if the text answers the question. Absent if the model does not know. */
  readonly answers?: boolean
}

/** A line of text in an image, and the box around it in pixels: `[x0, y0, x1, y1]`, y from the top. */
export interface RecognizedLine {
  readonly text: string
  readonly box: readonly [x0: number, y0: number, x1: number, y1: number]
}

/**
 * Answers a question about one or more images, which are looked at together.
 *
 * **Details.** The format is read from the bytes, and the order is kept. No image, more than `maxImages`, an image above
 * `maxImageBytes` or of another format fails with `InvalidRequest` before sending. `detail` is `low` (fast and cheap),
 * `high` (precise) or `auto`, the default. `read`, if the model offers it, returns the lines of text in an image, in reading
 * order.
 */
export class Vision extends Context.Service<
  Vision,
  {
    readonly model: VisionModel
    readonly look: (
      question: string,
      images: ReadonlyArray<Uint8Array>,
      options?: { readonly detail?: ImageDetail }
    ) => Effect.Effect<VisionAnswer, GatewayError>
    readonly read?: (image: Uint8Array) => Effect.Effect<ReadonlyArray<RecognizedLine>, GatewayError>
    /** Identifies what `read` returns, such as a model and its languages: readings are stored. Default: the model's id. */
    readonly reader?: string
  }
>()("@sluice/core/models/Vision") {}
