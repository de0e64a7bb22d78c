import { apiKey, GatewayEmbedder, GatewayReader, GatewayReranker, GatewayVision, Vision } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { embedderLaws, readerLaws, rerankerLaws, visionLaws } from "../laws/models.ts"
import { type Behaviour, json, LoopbackGateway, model } from "./LoopbackGateway.ts"
import { colourModel } from "./colourModel.ts"
import { png } from "./mediaImages.ts"

const answering = (behaviour: Behaviour) =>
  Layer.unwrap(
    Effect.map(LoopbackGateway, ({ behave, url: baseUrl }) => {
      behave(behaviour)
      return GatewayClient.layer({ baseUrl, apiKey: apiKey("sk-test") })
    })
  ).pipe(Layer.provide(LoopbackGateway.layer))
const gateway = answering(model)

embedderLaws("GatewayEmbedder", Layer.provide(GatewayEmbedder.layer({ model: "e" }), gateway))
rerankerLaws("GatewayReranker", Layer.provide(GatewayReranker.layer({ model: "r" }), gateway))
readerLaws("GatewayReader", Layer.provide(GatewayReader.layer({ model: "c" }), gateway))
visionLaws("GatewayVision", Layer.provide(GatewayVision.layer({ model: "v" }), answering(colourModel)))

it.effect("GatewayVision reads the lines of a page, in places that are spread over it", () =>
  Effect.gen(function* () {
    const { read } = yield* Vision
    assert.deepStrictEqual(yield* read!(png(30, 40)), [
      { text: "# Lock", box: [0, 0, 30, 20] },
      { text: "It opens at six.", box: [0, 20, 30, 40] }
    ])
  }).pipe(
    Effect.provide(
      Layer.provide(
        GatewayVision.layer({ model: "v", reads: true }),
        answering(({ body }, response) => {
          const [prompt] = body.messages[0]!.content as unknown as ReadonlyArray<{ readonly text: string }>
          assert.match(prompt!.text, /^Transcribe/)
          const content = "```\n# Lock\n\n  It opens at six.\n```"
          json(response, { choices: [{ message: { content }, finish_reason: "stop" }] })
        })
      )
    )
  )
)
