/** Who looks at figures: OCR of this process, or a gateway's model beside it. */
import { GatewayVision, Vision } from "@sluice/core"
import { layerVision } from "@sluice/embedded/vision"
import { Context, Effect, Layer } from "effect"

/**
 * A gateway's model looks at figures where one is named. Scanned pages and the lines of a picture, with their boxes, are
 * read by OCR in this process all the same: no gateway gives them.
 */
export const lookingBy = (model: string | undefined) =>
  model === undefined
    ? layerVision
    : Layer.effect(
        Vision,
        Effect.gen(function* () {
          const { read } = Context.get(yield* Layer.build(layerVision), Vision)
          const looking = Context.get(yield* Layer.build(GatewayVision.layer({ model })), Vision)
          return Vision.of({ ...looking, ...(read !== undefined && { read }) })
        })
      )
