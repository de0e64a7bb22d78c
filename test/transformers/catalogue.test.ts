/** The built-in models have what their kinds need. */
import { assert, describe, it } from "vitest"
import { builtInModels } from "../../packages/transformers/src/catalogue/BuiltInModels.ts"
import { bytesOf } from "../../packages/transformers/src/catalogue/CatalogueModel.ts"

describe("the catalogue", () => {
  const { models, sets } = builtInModels
  it("has free licences, fixed commits, and what its kind needs", () => {
    for (const model of models) {
      assert.include(["MIT", "Apache-2.0"], model.licence, model.id)
      assert.match(model.revision, /^[0-9a-f]{40}$/)
      assert.isAbove(model.published?.length ?? 0, 0, model.id)
      assert.isTrue(model.published?.every(({ source }) => URL.canParse(source)))
      assert.strictEqual(
        model.kind === "embedder",
        model.dimension !== undefined && model.pooling !== undefined
      )
      const names = model.files.map(({ as, path }) => as ?? path)
      if (model.kind === "chat") {
        assert.match(names.join(), /^[^,]+\.gguf$/)
        continue
      }
      for (const name of [
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "onnx/model_quantized.onnx"
      ])
        assert.include(names, name, model.id)
    }
    assert.strictEqual(new Set(models.map(({ id }) => id)).size, models.length)
  })

  it("has an embedder, a reranker and perhaps a chat model in each set, and at most 250 MiB in the small one", () => {
    for (const [name, ids] of Object.entries(sets)) {
      const members = models.filter(({ id }) => ids.includes(id))
      const kinds = members.map(({ kind }) => kind).filter((kind) => kind !== "chat")
      assert.deepStrictEqual(kinds.toSorted(), ["embedder", "reranker"], name)
      if (name === "small") assert.isAtMost(bytesOf(members), 250 * 2 ** 20)
    }
  })
})
