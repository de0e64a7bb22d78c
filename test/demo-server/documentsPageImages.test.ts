/** The disk cache of page images. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { PageImages } from "../../apps/demo-server/src/documents/PageImages.ts"
import { temporaryFolder } from "./TestServer.ts"

const sha256 = (digit: string) => digit.repeat(64)

/** A cache of a given size in a folder. */
const images = (data: string, bytes: number) =>
  Effect.map(
    Layer.build(
      PageImages.layerOf(bytes).pipe(
        Layer.provide(Layer.succeed(ServerConfig, { data } as ServerConfig["Service"])),
        Layer.provide(NodeServices.layer)
      )
    ),
    (context) => Context.get(context, PageImages)
  )

/** An image of 100 bytes, and how often it was drawn. */
const pen = () => {
  const drawn = { times: 0 }
  const draw = Effect.sync(() => {
    drawn.times++
    return new Uint8Array(100).fill(drawn.times)
  })
  return { drawn, draw }
}

describe("page images", () => {
  it.effect("are drawn once for concurrent requests, and found again after a restart", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const { draw, drawn } = pen()
      const of = { sha256: sha256("a"), page: 1, width: 600 }
      const { get } = yield* images(data, 1_000)
      const gate = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(get(of, Effect.andThen(Deferred.await(gate), draw)))
      const others = yield* Effect.forkChild(Effect.all([get(of, draw), get(of, draw)], { concurrency: 2 }))
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      yield* Fiber.join(others)
      assert.strictEqual(drawn.times, 1)
      yield* get({ ...of, width: 700 }, draw)
      assert.strictEqual(drawn.times, 2)
      const later = yield* images(data, 1_000)
      assert.deepStrictEqual(yield* later.get(of, draw), new Uint8Array(100).fill(1))
      assert.strictEqual(drawn.times, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("are removed a day after they were drawn: another server may have removed the document", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const { draw, drawn } = pen()
      const { get } = yield* images(data, 1_000)
      const of = { sha256: sha256("a"), page: 1, width: 600 }
      yield* get(of, draw)
      yield* TestClock.adjust("23 hours")
      yield* get(of, draw)
      assert.strictEqual(drawn.times, 1)
      yield* TestClock.adjust("2 hours")
      yield* get(of, draw)
      assert.strictEqual(drawn.times, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("evicts the least recently used images, and those of removed files", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const { draw, drawn } = pen()
      const { remove, get } = yield* images(data, 250)
      const page = (number: number) => ({ sha256: sha256("b"), page: number, width: 600 })
      for (const number of [1, 2, 1, 3]) yield* get(page(number), draw)
      assert.deepStrictEqual(
        readdirSync(join(data, "page-images")).toSorted(),
        [1, 3].map((number) => `${sha256("b")}-${number}-600.png`)
      )
      yield* get(page(1), draw)
      assert.strictEqual(drawn.times, 3)
      yield* remove(sha256("b"))
      assert.deepStrictEqual(readdirSync(join(data, "page-images")), [])
    }).pipe(Effect.scoped)
  )

  it.effect("are returned even if the folder is not writable", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      writeFileSync(join(data, "page-images"), "a file is in the way")
      const { draw } = pen()
      const { get } = yield* images(data, 1_000)
      assert.lengthOf(yield* get({ sha256: sha256("c"), page: 1, width: 600 }, draw), 100)
      assert.isTrue(existsSync(join(data, "page-images")))
    }).pipe(Effect.scoped)
  )
})
