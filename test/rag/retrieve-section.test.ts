/** Passages with their sections: the neighbours under the same headings. */
import { assert, describe, it } from "@effect/vitest"
import { Reranker } from "@sluice/core"
import { Effect, Layer, Ref } from "effect"
import { embedderLayer, modelsLayer, readerLayer } from "./Models.ts"
import { library } from "./SmallLibrary.ts"

describe("retrieval with sections", () => {
  it.effect("returns a passage with its neighbours of the same section, in order", () =>
    Effect.gen(function* () {
      const part = (word: string) => `${word} is said of the lock and of the boats in it. `.repeat(18)
      const words = ["Alder", "Birch", "Cedar", "Elder"]
      const from = yield* library({
        "guide.md": `# Guide\n\n## Trees\n\n${words.map(part).join("\n\n")}\n\n## Fees\n\nA boat pays nine crowns.\n`
      })
      const { kept } = yield* from.retrieve("cedar", { expand: "section", keep: 1 })
      const section = kept[0]?.section ?? []
      assert.isAbove(section.length, 1)
      assert.isTrue(section.some(({ id }) => id === kept[0]?.id))
      assert.isTrue(section.every(({ headings }) => headings.join() === kept[0]?.headings.join()))
      const ordinals = section.map(({ ordinal }) => ordinal)
      assert.deepStrictEqual(
        ordinals,
        ordinals.map((_, i) => ordinals[0]! + i)
      )
      for (const word of words) assert.isTrue(section.some(({ text }) => text.includes(word)))
      const plain = yield* from.retrieve("cedar", { keep: 1 })
      assert.isUndefined(plain.kept[0]?.section)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("returns a passage alone if its document was replaced during the retrieval", () =>
    Effect.gen(function* () {
      const guide = (word: string) =>
        `# Guide\n\n${Array.from({ length: 4 }, (_, i) => `Part ${i} of ${word}. `.repeat(50)).join("\n\n")}\n`
      const meanwhile = yield* Ref.make<Effect.Effect<unknown, unknown>>(Effect.void)
      const { model, rerank } = yield* Reranker
      const replacing = Layer.succeed(Reranker, {
        model,
        rerank: (...asked) =>
          Effect.andThen(Effect.orDie(Effect.flatten(Ref.get(meanwhile))), rerank(...asked))
      })
      yield* Effect.gen(function* () {
        const from = yield* library({ "guide.md": guide("cedar") })
        const file = { path: "guide.md", bytes: new TextEncoder().encode(guide("alder")) }
        yield* Ref.set(meanwhile, from.ingest({ files: [file] }))
        const { kept } = yield* from.retrieve("part of cedar", { expand: "section" })
        assert.isAbove(kept.length, 0)
        for (const { section, text } of kept)
          assert.deepStrictEqual(
            section?.map((one) => one.text),
            [text]
          )
      }).pipe(Effect.provide(Layer.mergeAll(embedderLayer, replacing, readerLayer)))
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
