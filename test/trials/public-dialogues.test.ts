/** The public dialogues kept apart from development: their follow-ups are found as far as docs/explanation/answers.md says. */
import { assert, describe, it } from "@effect/vitest"
import * as Embedded from "@sluice/embedded"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { dialogues, layerScripted, measureFollowUps, openLibrary } from "../qa/PublicDialogues.ts"

const apart = dialogues.filter(({ heldOut }) => heldOut)

const Models = Layer.mergeAll(Embedded.layer, NodeServices.layer)

describe("the public dialogues", () => {
  it.live("are found by words alone", () =>
    Effect.gen(function* () {
      const found = yield* measureFollowUps(yield* openLibrary(), apart)
      assert.strictEqual(found.followUps, 192)
      assert.approximately(found.byHand, 186, 2)
      assert.approximately(found.asAsked, 88, 3)
      assert.approximately(found.understood, 173, 3)
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.live("are found by a chat model that says only what its prompt holds", () =>
    Effect.gen(function* () {
      const { understood } = yield* measureFollowUps(yield* openLibrary(), apart)
      assert.approximately(understood, 180, 3)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Models, layerScripted)))
  )
})
