/** The group of a model, from configuration. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, expectTypeOf, it, layer } from "@effect/vitest"
import { apiKey, Gateway, ModelCatalogue } from "@sluice/core"
import { type ModelGroup, MODEL_GROUPS } from "@sluice/core/contract"
import { GatewayClient } from "@sluice/core/client"
import { ConfigProvider, Effect, FileSystem, Layer, Option } from "effect"
import { json, LoopbackGateway } from "./LoopbackGateway.ts"

const build = (value: string | undefined) => {
  const env = value === undefined ? {} : { SLUICE_MODEL_GROUPS: value }
  const config = ConfigProvider.layer(ConfigProvider.fromUnknown(env))
  return Effect.provide(
    ModelCatalogue,
    Layer.provide(ModelCatalogue.layerConfig, Layer.merge(config, NodeFileSystem.layer))
  )
}

describe("the catalogue", () => {
  it("has the groups of the interface", () => {
    const videos = ["V-A", "V-B", "V-C", "V-D", "V-E", "V-F", "V-G", "image-to-video"]
    const images = ["I1", "I2", "I3", "I4", "I5", "I6"]
    assert.deepStrictEqual([...MODEL_GROUPS], [...videos, ...images, "rerank", "embeddings", "chat"])
    expectTypeOf<"V-H">().not.toExtend<ModelGroup>()
    // @ts-expect-error: no such group
    assert.throws(() => ModelCatalogue.make({ "V-H": ["m"] }), /V-H/)
  })

  it("finds a model by its name, else by the longest prefix", () => {
    const { groupOf } = ModelCatalogue.make({
      "V-D": ["wave-2.6"],
      "image-to-video": ["wave-*-i2v", "wave-2.6-i2v*"],
      "V-E": ["wave-*"],
      chat: ["*"]
    })
    const groups = ["wave-2.6", "wave-2.6-i2v-plus", "wave-2.5", "wave-*-i2v", "other", ""].map((model) =>
      Option.getOrUndefined(groupOf(model))
    )
    assert.deepStrictEqual(groups, ["V-D", "image-to-video", "V-E", "image-to-video", "chat", "chat"])
    assert.isTrue(Option.isNone(ModelCatalogue.make({}).groupOf("constructor")))
  })

  it("rejects a model in two groups", () => {
    assert.throws(() => ModelCatalogue.make({ I1: ["m"], I4: ["m"] }), /`m` is listed in I1 and in I4/)
  })
})

layer(LoopbackGateway.layer)("the catalogue of a client", (it) => {
  it.effect("is that of its layer, unless the call provides one", () =>
    Effect.gen(function* () {
      const { behave, seen, url: baseUrl } = yield* LoopbackGateway
      behave((_, response) => json(response, { id: "t-1", status: "queued" }))
      const client = GatewayClient.layer({ baseUrl, apiKey: apiKey("k") }).pipe(
        Layer.provide(ModelCatalogue.layer({ "V-A": ["film"], I2: ["painter"] }))
      )
      yield* Effect.gen(function* () {
        const { images, videos } = yield* Gateway
        const film = videos.create({ model: "film", prompt: "p", seconds: "5" })
        const painting = images.create({ model: "painter", prompt: "p", seed: 1 })
        assert.match((yield* Effect.flip(film)).message, /V-A accepts `seconds` 4, 8, 12/)
        assert.match((yield* Effect.flip(painting)).message, /not a field of group I2/)
        assert.strictEqual(seen.length, 0)
        yield* Effect.all([film, painting]).pipe(Effect.provide(ModelCatalogue.layer({})))
        assert.strictEqual(seen.length, 2)
      }).pipe(Effect.provide(client))
    })
  )
})

describe("the catalogue's configuration", () => {
  const table = { I4: ["a"], rerank: ["r-*"] }

  it.effect("is JSON, a file, or empty", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempFileScoped()
      yield* files.writeFileString(path, JSON.stringify(table, null, 2))
      for (const value of [JSON.stringify(table), ` ${JSON.stringify(table)}\n`, path]) {
        const catalogue = yield* build(value)
        assert.deepStrictEqual(catalogue.table, table)
        assert.deepStrictEqual(catalogue.groupOf("r-2"), Option.some("rerank"))
      }
      for (const value of [undefined, "", " "]) assert.deepStrictEqual((yield* build(value)).table, {})
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )

  it.effect("names the fault of an invalid table", () =>
    Effect.gen(function* () {
      const wrong: Record<string, RegExp> = {
        "{": /JSON/,
        '{"V-H":["m"]}': /`V-H` is not a group of models: V-A, .*chat/,
        '{"I1":["m"],"I4":["m"]}': /`m` is listed in I1 and in I4; a model has one group/,
        '{"I1":["m","m"]}': /`m` is listed twice in I1/,
        '{"I1":"m"}': /array at \["I1"\]\. Expected a table such as/,
        '{"I1":[""]}': /I1/,
        "/no/such/file.json": /neither JSON, .* nor a readable file: \/no\/such\/file\.json/
      }
      for (const [value, message] of Object.entries(wrong)) {
        const error = yield* Effect.flip(build(value))
        assert.strictEqual(error._tag, "GatewayError")
        assert.match(error.message, message)
        assert.include(error.message, "SLUICE_MODEL_GROUPS: ")
      }
    })
  )
})
