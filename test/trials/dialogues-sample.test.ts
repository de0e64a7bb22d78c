/** A sample of the public dialogues, in a library of their own passages. All that are kept apart: `npm run trials`. */
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
} from "../qa/PublicDialogues.ts"

/** Of those kept apart from development, some in each language. */
const part = (["en", "zh"] as const).flatMap((language) =>
  dialogues.filter((dialogue) => dialogue.heldOut && dialogue.language === language).slice(0, 3)
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

  it.live("are completed by words alone", () =>
    Effect.gen(function* () {
      const found = yield* measureFollowUps(yield* openLibrary(part), part)
      assert.deepInclude(found, { followUps: 14, understood: 14, completed: 10 })
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.live("are completed by a chat model that says only what its prompt holds, and others cost no call", () =>
    Effect.gen(function* () {
      const library = yield* openLibrary(part)
      const { completed } = yield* measureFollowUps(library, part)
      const { seen } = yield* LoopbackGateway
      const before = seen.length
      assert.deepStrictEqual([completed, before], [10, 10])
      yield* measureStandalone(library, part)
      assert.strictEqual(seen.length - before, 0)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Models, layerScripted)))
  )
})
