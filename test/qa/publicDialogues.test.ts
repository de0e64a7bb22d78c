/** A part of the public dialogues: their follow-ups are found as far as is documented, by the real prompt and without a model. */
import { assert, describe, it } from "@effect/vitest"
import * as Embedded from "@sluice/embedded"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { LoopbackGateway } from "../core/LoopbackGateway.ts"
import {
  dialogues,
  layerScripted,
  measureFollowUps,
  measureStandalone,
  openLibrary
} from "./PublicDialogues.ts"

/** Of those kept apart from development, 12 in each language. */
const part = (["en", "zh"] as const).flatMap((language) =>
  dialogues.filter((dialogue) => dialogue.heldOut && dialogue.language === language).slice(0, 12)
)

const Models = Layer.mergeAll(Embedded.layer, NodeServices.layer)

describe("the public dialogues", () => {
  it("are 200 and more in two languages, of two to five turns, and a third is kept apart", () => {
    assert.isAtLeast(dialogues.length, 200)
    assert.isAtLeast(dialogues.filter(({ language }) => language === "zh").length, 80)
    for (const { id, turns } of dialogues) {
      assert.isTrue(turns.length >= 2 && turns.length <= 5, id)
      assert.isUndefined(turns[0]?.standalone, id)
    }
    assert.approximately(dialogues.filter(({ heldOut }) => heldOut).length / dialogues.length, 1 / 3, 0.04)
  })

  it.live("are found by words alone", () =>
    Effect.gen(function* () {
      const found = yield* measureFollowUps(yield* openLibrary, part)
      assert.strictEqual(found.followUps, 57)
      assert.approximately(found.byHand, 54, 1)
      assert.approximately(found.asAsked, 24, 2)
      assert.approximately(found.understood, 47, 2)
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.live("are found by a chat model that says only what its prompt holds, and others cost no call", () =>
    Effect.gen(function* () {
      const library = yield* openLibrary
      const { understood } = yield* measureFollowUps(library, part)
      assert.approximately(understood, 47, 2)
      const { seen } = yield* LoopbackGateway
      const before = seen.length
      yield* measureStandalone(library, part)
      assert.strictEqual(seen.length - before, 0)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Models, layerScripted)))
  )
})
