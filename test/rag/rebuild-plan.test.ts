/** The plan of a rebuild: what it embeds, costs and takes, before anything is done. */
import { assert, describe, it } from "@effect/vitest"
import { Library } from "@sluice/rag"
import { Effect, Layer, Stream } from "effect"
import { countingEmbedder, modelsLayer, readerLayer, rerankerLayer } from "./Models.ts"
import { handbook } from "./TestFolder.ts"

const modelsWith = (options: { readonly id: string; readonly free: boolean }) =>
  Effect.map(countingEmbedder(options), ({ count, layer }) => ({
    count,
    layer: Layer.mergeAll(layer, rerankerLayer, readerLayer)
  }))

/** The handbook, embedded with the usual model. */
const embedded = Effect.gen(function* () {
  const { docs, library: at } = yield* handbook
  const { passages } = yield* Effect.scoped(
    Effect.flatMap(Library.open(at), (library) => Effect.andThen(library.ingest(docs), library.stats))
  ).pipe(Effect.provide(modelsLayer))
  return { at, docs, passages }
})

describe("the plan of a rebuild", () => {
  it.effect("has the cost of a paid model, calls no model, and its time once the model was used", () =>
    Effect.gen(function* () {
      const { at, passages } = yield* embedded
      const { count, layer } = yield* modelsWith({ id: "paid-of-the-plan", free: false })
      yield* Effect.gen(function* () {
        const options = { per1000Tokens: 10, timeModel: true }
        const plan = yield* Library.planRebuild(at, options)
        assert.strictEqual(yield* count, 0)
        assert.deepInclude(plan, { documents: 3, passages, texts: passages, cached: 0, calls: 1 })
        assert.isTrue(plan.tokens.estimated > 0 && plan.tokens.estimated <= plan.tokens.atMost)
        assert.deepStrictEqual(plan.cost, {
          estimated: Math.ceil(plan.tokens.estimated / 100),
          atMost: Math.ceil(plan.tokens.atMost / 100)
        })
        assert.isUndefined(plan.seconds)

        yield* Stream.runDrain(Library.rebuild(at))
        assert.strictEqual(yield* count, plan.texts)
        // Their vectors are paid for.
        const again = yield* Library.planRebuild(at, options)
        assert.deepInclude(again, { documents: 3, passages, texts: 0, cached: passages, calls: 0 })
        assert.deepInclude(again, { cost: { estimated: 0, atMost: 0 }, seconds: 0 })
        yield* Effect.scoped(
          Effect.gen(function* () {
            const library = yield* Library.open(at)
            yield* library.remove((yield* library.documents)[0]!.id)
          })
        )
        assert.strictEqual((yield* Library.planRebuild(at, options)).documents, 2)
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.effect("times a free model with a few of the passages, if it may", () =>
    Effect.gen(function* () {
      const { at, docs, passages } = yield* embedded
      const { count, layer } = yield* modelsWith({ id: "free-of-the-plan", free: true })
      yield* Effect.gen(function* () {
        const untimed = yield* Library.planRebuild(at)
        assert.strictEqual(yield* count, 0)
        assert.deepInclude(untimed, { documents: 3, passages, texts: passages })
        assert.notProperty(untimed, "seconds")
        assert.notProperty(untimed, "cost")
        const timed = yield* Library.planRebuild(at, { timeModel: true })
        // One call that may load the model, and one that is timed.
        assert.strictEqual(yield* count, 1 + passages)
        assert.isAtLeast(timed.seconds ?? -1, 0)
        assert.isDefined((yield* Library.planRebuild(at)).seconds)
        assert.strictEqual(yield* count, 1 + passages)

        yield* Stream.runDrain(Library.rebuild(at))
        const library = yield* Library.open(at)
        assert.isDefined((yield* library.plan(docs)).seconds)
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.effect("is empty without a collection, and refuses a price that is no amount", () =>
    Effect.gen(function* () {
      const { at } = yield* embedded
      const none = yield* Library.planRebuild(at, { collection: "none", timeModel: true })
      assert.deepInclude(none, { documents: 0, passages: 0, texts: 0, seconds: 0 })
      const error = yield* Effect.flip(Library.planRebuild(at, { per1000Tokens: -1 }))
      assert.strictEqual(error.reason, "Malformed")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
