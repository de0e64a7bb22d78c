/** Models are fetched from a loopback hub with faults, and from folders. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { damagedFiles, DownloadLimits, missingFiles, pullModel, removeModel } from "@sluice/transformers"
import { ConfigProvider, Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { existsSync } from "node:fs"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { vi } from "vitest"
import { sluiceHere } from "../cli/Launcher.ts"
import { type Fault, type Hub, loopbackHub, publish } from "./LoopbackHub.ts"

const WEIGHTS = new Uint8Array(200_000).map((_, i) => (i * 31) % 251)
const FILES = { "config.json": Buffer.from('{"model_type":"bert"}'), "onnx/model.onnx": WEIGHTS }
const CONFIG_PATH = "/tests/tiny/resolve/0123456789abcdef/config.json"
const WEIGHTS_PATH = "/tests/tiny/resolve/0123456789abcdef/onnx/model.onnx"

const IMPATIENT = { idle: Duration.millis(200), retries: 3, pause: Duration.millis(1) }

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-models-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** A hub with the model, an empty cache, and how to pull with both. */
const setupWith = Effect.fnUntraced(function* (limits: typeof DownloadLimits.Service) {
  const hub = yield* loopbackHub
  const cache = yield* temporaryFolder
  const model = publish(hub, FILES)
  const environment = { XDG_CACHE_HOME: cache, SLUICE_MODEL_HUB: `${hub.url}/` }
  const layer = Layer.mergeAll(
    NodeHttpClient.layerUndici,
    ConfigProvider.layer(ConfigProvider.fromUnknown(environment)),
    Layer.succeed(DownloadLimits, limits)
  )
  const root = join(cache, "sluice/models")
  const folder = join(root, "tiny-01234567")
  const pull = (options?: Parameters<typeof pullModel>[1]) => Effect.provide(pullModel(model, options), layer)
  return { hub, cache, root, folder, model, pull, environment }
})

const setup = setupWith(IMPATIENT)

const isWhole = (folder: string) =>
  Effect.promise(async () => {
    assert.deepStrictEqual(new Uint8Array(await readFile(join(folder, "onnx/model.onnx"))), WEIGHTS)
    assert.deepStrictEqual(await readFile(join(folder, "config.json")), FILES["config.json"])
    assert.deepStrictEqual(await readdir(join(folder, "onnx")), ["model.onnx"])
  })

/** Only the weights, and only the first `times`. */
const firstWeights = (times: number, fault: Fault): Fault => {
  let count = 0
  return (request, response, n) =>
    request.url === WEIGHTS_PATH && ++count <= times && fault(request, response, n)
}

const cutAt =
  (bytes: number): Fault =>
  (_, response) => {
    response.writeHead(200, { "content-length": WEIGHTS.length })
    response.write(WEIGHTS.subarray(0, bytes), () => setTimeout(() => response.destroy(), 20))
    return true
  }

const weightRequests = (hub: Hub) => hub.requests.filter(({ path }) => path === WEIGHTS_PATH)

describe("pull", () => {
  it.live("fetches each file once, reports progress, and fetches nothing that is whole", () =>
    Effect.gen(function* () {
      const { folder, hub, pull } = yield* setup
      const progress: Array<number> = []
      const onProgress = (done: number, total: number) =>
        Effect.sync(() => {
          assert.strictEqual(total, 200_021)
          progress.push(done)
        })
      assert.strictEqual(yield* pull({ onProgress }), folder)
      yield* isWhole(folder)
      assert.deepStrictEqual(
        progress,
        progress.toSorted((a, b) => a - b)
      )
      assert.deepStrictEqual([progress[0], progress.at(-1)], [0, 200_021])
      assert.deepStrictEqual(
        hub.requests.map(({ path }) => path),
        [CONFIG_PATH, WEIGHTS_PATH]
      )
      yield* pull()
      assert.lengthOf(hub.requests, 2)
    }).pipe(Effect.scoped)
  )

  it.live("continues after a cut connection where it broke off", () =>
    Effect.gen(function* () {
      const { folder, hub, pull } = yield* setup
      hub.fault = firstWeights(1, cutAt(70_000))
      yield* pull()
      yield* isWhole(folder)
      assert.deepStrictEqual(
        weightRequests(hub).map(({ range }) => range),
        [undefined, "bytes=70000-"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("gives up after the last attempt, and a later pull continues", () =>
    Effect.gen(function* () {
      const { folder, hub, pull, root, model } = yield* setup
      hub.fault = firstWeights(4, (request, response, n) =>
        request.headers.range === undefined
          ? cutAt(50_000)(request, response, n)
          : Boolean(response.writeHead(503).end())
      )
      const error = yield* Effect.flip(pull())
      assert.deepStrictEqual([error.reason._tag, error.model], ["ServerFailure", "tiny"])
      assert.lengthOf(weightRequests(hub), 4)
      assert.deepStrictEqual(
        (yield* missingFiles(root, model)).map(({ path }) => path),
        ["onnx/model.onnx"]
      )
      yield* pull()
      yield* isWhole(folder)
      assert.strictEqual(weightRequests(hub).at(-1)?.range, "bytes=50000-")
    }).pipe(Effect.scoped)
  )

  it.live("keeps nothing of a page that a network answers with", () =>
    Effect.gen(function* () {
      const { folder, hub, pull } = yield* setup
      const page = Buffer.from("<html>Sign in to this network</html>")
      for (const answer of [page, Buffer.concat([WEIGHTS, page])]) {
        hub.fault = (request, response) =>
          request.url === WEIGHTS_PATH && Boolean(response.writeHead(200).end(answer))
        const error = yield* Effect.flip(pull())
        assert.strictEqual(error.reason._tag, "InvalidResponse")
        assert.include(error.message, "so it is another file")
        assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(folder, "onnx"))), [])
      }
      // One download, from its beginning.
      hub.fault = () => false
      hub.requests.length = 0
      yield* pull()
      yield* isWhole(folder)
      assert.deepStrictEqual(hub.requests, [{ path: WEIGHTS_PATH, range: undefined }])
    }).pipe(Effect.scoped)
  )

  it.live("starts anew next time if the hub has less than was already here", () =>
    Effect.gen(function* () {
      const { folder, hub, pull } = yield* setup
      hub.fault = firstWeights(2, (request, response, n) =>
        request.headers.range === undefined
          ? cutAt(70_000)(request, response, n)
          : Boolean(response.writeHead(416).end())
      )
      assert.include((yield* Effect.flip(pull())).message, "has fewer bytes than the 200000")
      yield* pull()
      yield* isWhole(folder)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a second pull of a model while one is running, and spoils neither", () =>
    Effect.gen(function* () {
      const { folder, hub, pull } = yield* setupWith({ ...IMPATIENT, idle: Duration.minutes(1) })
      const stalled = yield* Deferred.make<ServerResponse>()
      hub.fault = firstWeights(1, (_, response) => {
        response.writeHead(200, { "content-length": WEIGHTS.length })
        response.write(WEIGHTS.subarray(0, 90_000))
        return Deferred.doneUnsafe(stalled, Effect.succeed(response))
      })
      const first = yield* Effect.forkChild(pull())
      const response = yield* Deferred.await(stalled)
      assert.include((yield* Effect.flip(pull())).message, "Another pull of this model is running")
      response.end(WEIGHTS.subarray(90_000))
      yield* Fiber.join(first)
      yield* isWhole(folder)
      assert.lengthOf(weightRequests(hub), 1)
      yield* pull()
    }).pipe(Effect.scoped)
  )

  it.live("starts anew if the hub ignores the range", () =>
    Effect.gen(function* () {
      const { folder, hub, pull } = yield* setup
      hub.fault = (request, response, n) => {
        if (request.url !== WEIGHTS_PATH) return false
        if (request.headers.range === undefined) return cutAt(70_000)(request, response, n)
        response.writeHead(200).end(WEIGHTS)
        return true
      }
      yield* pull()
      yield* isWhole(folder)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a range that it did not ask for", () =>
    Effect.gen(function* () {
      const { hub, pull } = yield* setup
      hub.fault = (request, response, n) => {
        if (request.url !== WEIGHTS_PATH) return false
        if (request.headers.range === undefined) return cutAt(70_000)(request, response, n)
        response.writeHead(206, { "content-range": "bytes 0-9/10" }).end(WEIGHTS.subarray(0, 10))
        return true
      }
      const error = yield* Effect.flip(pull())
      assert.strictEqual(error.reason._tag, "InvalidResponse")
      assert.include(error.message, "another range")
    }).pipe(Effect.scoped)
  )

  it.live("does not wait for a hub that has stalled, before or after the head", () =>
    Effect.gen(function* () {
      const { folder, hub, pull } = yield* setup
      hub.fault = firstWeights(2, (_, response, n) => {
        if (n === 2) return true // nothing at all
        response.writeHead(200, { "content-length": WEIGHTS.length })
        return response.write(WEIGHTS.subarray(0, 60_000)) || true
      })
      yield* pull()
      yield* isWhole(folder)
      assert.deepStrictEqual(
        weightRequests(hub).map(({ range }) => range),
        [undefined, undefined, "bytes=60000-"]
      )
      yield* Effect.promise(() => rm(folder, { recursive: true }))
      hub.fault = () => true
      const error = yield* Effect.flip(pull())
      assert.strictEqual(error.reason._tag, "TimedOut")
      assert.include(error.message, "sent nothing for 200ms")
    }).pipe(Effect.scoped)
  )

  it.live("deletes a file with another checksum, and keeps none longer than the catalogue says", () =>
    Effect.gen(function* () {
      const { folder, hub, pull } = yield* setup
      hub.files.set(WEIGHTS_PATH, WEIGHTS.with(7, 0))
      const wrong = yield* Effect.flip(pull())
      assert.strictEqual(wrong.reason._tag, "InvalidResponse")
      assert.include(wrong.message, "its SHA-256 differs")
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(folder, "onnx"))), [])
      assert.lengthOf(weightRequests(hub), 1)
      hub.files.set(WEIGHTS_PATH, new Uint8Array(300_000))
      assert.include((yield* Effect.flip(pull())).message, "more bytes than the 200000")
      assert.isFalse(existsSync(join(folder, "onnx/model.onnx")))
    }).pipe(Effect.scoped)
  )

  it.live("stops at a refusal, and says how to use a mirror or a folder", () =>
    Effect.gen(function* () {
      const { hub, pull } = yield* setup
      hub.fault = (_, response) => Boolean(response.writeHead(403).end("<html>blocked</html>"))
      const error = yield* Effect.flip(pull())
      assert.strictEqual(error.reason._tag, "InvalidRequest")
      for (const part of ["answered 403", "SLUICE_MODEL_HUB", "--from"]) assert.include(error.message, part)
      assert.lengthOf(hub.requests, 1)
    }).pipe(Effect.scoped)
  )

  it.live("follows redirects within the hub and to another host, with the range", () =>
    Effect.gen(function* () {
      const { folder, hub, pull } = yield* setup
      const storage = yield* loopbackHub
      storage.files.set("/blobs/weights", WEIGHTS)
      hub.files.set("/cdn/config", FILES["config.json"])
      const redirect = (response: Parameters<Fault>[1], location: string) =>
        Boolean(response.writeHead(302, { location }).end())
      hub.fault = (request, response) =>
        request.url === CONFIG_PATH
          ? redirect(response, "/cdn/config")
          : request.url === WEIGHTS_PATH && redirect(response, `${storage.url}/blobs/weights?signature=a%2Fb`)
      let cut = false
      storage.fault = (request, response, n) => {
        assert.include(request.url, "signature=a%2Fb")
        if (cut) return false
        cut = true
        return cutAt(10_000)(request, response, n)
      }
      yield* pull()
      yield* isWhole(folder)
      assert.deepStrictEqual(
        storage.requests.map(({ range }) => range),
        [undefined, "bytes=10000-"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("copies from a folder without a network, and checks what it copies", () =>
    Effect.gen(function* () {
      const { folder, hub, model, pull, root } = yield* setup
      const from = yield* temporaryFolder
      const repository = join(from, "tests/tiny")
      yield* Effect.promise(async () => {
        for (const [path, bytes] of Object.entries(FILES)) {
          await mkdir(dirname(join(repository, path)), { recursive: true })
          await writeFile(join(repository, path), bytes)
        }
      })
      yield* pull({ from })
      yield* isWhole(folder)
      // What one machine pulled, another can copy.
      const other = yield* temporaryFolder
      yield* Effect.promise(() => cp(root, other, { recursive: true }))
      yield* removeModel(root, model)
      yield* pull({ from: other })
      yield* isWhole(folder)
      assert.lengthOf(hub.requests, 0)

      yield* removeModel(root, model)
      yield* Effect.promise(() => writeFile(join(repository, "onnx/model.onnx"), WEIGHTS.with(7, 0)))
      assert.include((yield* Effect.flip(pull({ from }))).message, "SHA-256 differs")
      yield* Effect.promise(() => rm(join(repository, "onnx/model.onnx")))
      assert.include((yield* Effect.flip(pull({ from }))).message, "has no onnx/model.onnx")
    }).pipe(Effect.scoped)
  )

  it.live("finds a damaged file and fetches only that", () =>
    Effect.gen(function* () {
      const { folder, hub, model, pull, root } = yield* setup
      yield* pull()
      yield* Effect.promise(() => writeFile(join(folder, "onnx/model.onnx"), WEIGHTS.with(7, 0)))
      assert.deepStrictEqual(yield* missingFiles(root, model), [])
      assert.deepStrictEqual(
        (yield* damagedFiles(root, model)).map(({ path }) => path),
        ["onnx/model.onnx"]
      )
      yield* pull()
      yield* isWhole(folder)
      assert.lengthOf(hub.requests, 3)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a hub that is not an address, or has a credential, which it does not repeat", () =>
    Effect.gen(function* () {
      const { model, cache } = yield* setup
      for (const hub of ["ftp://example", "mirror", "https://user:secret@mirror.example"]) {
        const error = yield* Effect.flip(pullModel(model)).pipe(
          Effect.provide([
            NodeHttpClient.layerUndici,
            ConfigProvider.layer(ConfigProvider.fromUnknown({ XDG_CACHE_HOME: cache, SLUICE_MODEL_HUB: hub }))
          ])
        )
        assert.include(error.message, "SLUICE_MODEL_HUB must be")
        assert.notInclude(error.message, "secret")
      }
    }).pipe(Effect.scoped)
  )
})

describe("sluice models", () => {
  it.live("pulls through the environment's proxy, lists, verifies and removes", () =>
    Effect.gen(function* () {
      const { environment, folder, hub, model } = yield* setup
      const own = join(environment.XDG_CACHE_HOME, "own.json")
      yield* Effect.promise(() =>
        writeFile(own, JSON.stringify({ models: [model], sets: { toy: ["tiny"] } }))
      )
      // No such host: only a proxy can know it. A proxy is asked with the whole address.
      const env = {
        ...environment,
        SLUICE_MODEL_CATALOGUE: own,
        SLUICE_MODEL_HUB: "http://hub.invalid",
        http_proxy: hub.url,
        no_proxy: ""
      }
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
      yield* Effect.addFinalizer(() => Effect.sync(() => void vi.unstubAllEnvs()))
      const sluice = (...args: ReadonlyArray<string>) => Effect.promise(() => sluiceHere(["models", ...args]))
      const pulled = yield* sluice("pull", "toy", "--json")
      assert.strictEqual(pulled.code, 0, pulled.stderr)
      assert.deepStrictEqual(JSON.parse(pulled.stdout), { models: [{ id: "tiny", folder, bytes: 200_021 }] })
      assert.lengthOf(hub.requests, 2)
      yield* isWhole(folder)

      const list: { readonly models: ReadonlyArray<{ readonly id: string; readonly pulled: boolean }> } =
        JSON.parse((yield* sluice("list", "--json")).stdout)
      assert.deepStrictEqual(
        list.models.filter(({ pulled: here }) => here).map(({ id }) => id),
        ["tiny"]
      )
      assert.include((yield* sluice("verify")).stdout, "tiny: every file has its checksum")
      yield* Effect.promise(() => writeFile(join(folder, "config.json"), "{}"))
      const damaged = yield* sluice("verify", "toy")
      assert.deepStrictEqual([damaged.code, damaged.stdout.includes("config.json")], [1, true])

      const unknown = yield* sluice("pull", "large", "--json")
      assert.strictEqual(unknown.code, 1)
      assert.include(JSON.parse(unknown.stdout).error.message, "Sets: small, better, answers, toy")
      const inherited = yield* sluice("pull", "constructor", "--json")
      assert.include(JSON.parse(inherited.stdout).error.message, "Sets: small, better, answers, toy")
      assert.strictEqual((yield* sluice("remove", "tiny")).code, 0)
      assert.isFalse(existsSync(folder))
    }).pipe(Effect.scoped)
  )
})
