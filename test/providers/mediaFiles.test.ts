/** Where the file of a finished video is fetched from, and with which credential. */
import { assert, describe, it } from "@effect/vitest"
import { Video } from "@sluice/core/contract"
import { Effect } from "effect"
import { publicAddressPolicy } from "../../apps/demo-server/src/network/PublicFile.ts"
import { type Dialect, Dialects, gateway } from "../../packages/providers/src/index.ts"
import { loopback } from "../demo-server/Loopback.ts"
import { errorOf } from "../demo-server/TestServer.ts"
import { MP4 } from "./fakes/MediaVendor.ts"
import { startVendorServer } from "./MediaServer.ts"

const KEY = "sk-camera-0123456789"

/** A vendor whose videos are finished at once, with a given file. */
const camera = (file: string): Dialect => ({
  id: "camera",
  name: "Camera",
  operations: {
    videos: {
      path: "/films",
      task: {
        reference: () => "film",
        status: (reference) => ({ path: `/films/${reference}` }),
        state: () => ({ status: "completed", files: [file] })
      }
    }
  }
})

/** The vendor, and the host of its files. Each records the requests for files. */
const start = Effect.gen(function* () {
  const requests: Array<{ readonly host: string; readonly path: string; readonly key: unknown }> = []
  const serve = (host: string, redirect?: () => string) =>
    loopback(({ headers, path, response }) => {
      if (!path.startsWith("/film.mp4") && !path.startsWith("/moved")) {
        response.writeHead(200, { "content-type": "application/json" })
        return response.end("{}")
      }
      requests.push({ host, path, key: headers.authorization })
      if (path.startsWith("/moved")) return response.writeHead(302, { location: redirect?.() }).end()
      if (path.endsWith("expired")) return response.writeHead(403).end("<Error>AccessDenied</Error>")
      response.writeHead(200, { "content-type": "video/mp4", "content-length": MP4.length })
      return response.end(MP4)
    })
  const storage = yield* serve("storage")
  const vendor = yield* serve("vendor", () => `${storage.url}/film.mp4`)
  return { requests, storage: storage.url, vendor: vendor.url }
})

const contentOf = Effect.fnUntraced(function* (url: string, file: string, isPublicOnly = false) {
  const upstream = { dialect: "camera", url, key: KEY, video: "cam-1" }
  const server = yield* Effect.provideService(
    isPublicOnly ? startVendorServer(upstream, publicAddressPolicy) : startVendorServer(upstream),
    Dialects,
    [gateway, camera(file)]
  )
  const { id } = yield* server.json(Video, "/v1/videos", { json: { model: "animator", prompt: "a barge" } })
  return yield* server.call(`/v1/videos/${id}/content`)
})

const bytesOf = (response: Response) =>
  Effect.map(
    Effect.promise(() => response.arrayBuffer()),
    (bytes) => Buffer.from(bytes)
  )

describe("the file of a finished video", () => {
  it.live("is fetched from another host without the key", () =>
    Effect.gen(function* () {
      const { requests, storage, vendor } = yield* start
      const response = yield* contentOf(vendor, `${storage}/film.mp4`)
      assert.deepStrictEqual(yield* bytesOf(response), MP4)
      assert.deepStrictEqual(requests, [{ host: "storage", path: "/film.mp4", key: undefined }])
    }).pipe(Effect.scoped)
  )

  it.live("is not fetched from an address that is not public", () =>
    Effect.gen(function* () {
      const { requests, storage, vendor } = yield* start
      const response = yield* contentOf(vendor, `${storage}/film.mp4`, true)
      assert.strictEqual(response.status, 502)
      assert.include((yield* errorOf(response)).message, "not publicly reachable")
      assert.isEmpty(requests)
    }).pipe(Effect.scoped)
  )

  it.live("is fetched from the upstream's own address, wherever it is, without the key", () =>
    Effect.gen(function* () {
      const { requests, vendor } = yield* start
      const response = yield* contentOf(vendor, `${vendor}/film.mp4`, true)
      assert.deepStrictEqual(yield* bytesOf(response), MP4)
      assert.deepStrictEqual(requests, [{ host: "vendor", path: "/film.mp4", key: undefined }])
    }).pipe(Effect.scoped)
  )

  it.live("is not fetched from another host to which the upstream's own address redirects", () =>
    Effect.gen(function* () {
      const { requests, vendor } = yield* start
      const response = yield* contentOf(vendor, `${vendor}/moved`, true)
      assert.strictEqual(response.status, 502)
      assert.deepStrictEqual(
        requests.map(({ host }) => host),
        ["vendor"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("needs the key if it is a path, but not after a redirect", () =>
    Effect.gen(function* () {
      const { requests, vendor } = yield* start
      const response = yield* contentOf(vendor, "/moved")
      assert.deepStrictEqual(yield* bytesOf(response), MP4)
      assert.deepStrictEqual(requests, [
        { host: "vendor", path: "/moved", key: `Bearer ${KEY}` },
        { host: "storage", path: "/film.mp4", key: undefined }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("is expired if its host refuses the link", () =>
    Effect.gen(function* () {
      const { storage, vendor } = yield* start
      const response = yield* contentOf(vendor, `${storage}/film.mp4?expired`)
      assert.strictEqual(response.status, 404)
      assert.strictEqual((yield* errorOf(response)).code, "expired")
    }).pipe(Effect.scoped)
  )
})
