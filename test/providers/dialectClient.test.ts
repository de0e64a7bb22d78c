/** The client over a vendor's protocol: its limits, its headers, and results without an end. */
import { assert, describe, it } from "@effect/vitest"
import { layerTransport } from "@sluice/core/client"
import { Effect, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { DIALECTS, type DialectConnection, makeDialectClient } from "../../packages/providers/src/index.ts"
import { type Fields, PNG } from "./fakes/MediaVendor.ts"
import { type Respond, startVendor } from "./VendorServer.ts"

const IMAGES = "/v1/images/generations"
const KEY = "sk-$&-0123456789"

/** Calls the vendor of a dialect with requests of the interface. */
const start = Effect.fnUntraced(function* (
  id: string,
  respond: Respond,
  more: Partial<DialectConnection> = {},
  size = PNG.length
) {
  const { requests, url } = yield* startVendor(respond)
  const dialect = DIALECTS.find((one) => one.id === id)
  assert.isDefined(dialect)
  const client = makeDialectClient(yield* HttpClient.HttpClient, {
    dialect,
    url,
    apiKey: Redacted.make(KEY),
    tools: { image: () => Effect.succeed({ bytes: new Uint8Array(size), mediaType: "image/png" }) },
    ...more
  })
  const call = Effect.fnUntraced(function* (path: string, fields?: Fields) {
    const request =
      fields === undefined
        ? HttpClientRequest.get(url + path)
        : HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(url + path), fields)
    const response = yield* client.execute(request)
    return { status: response.status, body: (yield* response.json) as Fields }
  })
  return { call, requests }
})

const painted: Respond = () => [200, { data: [{ b64_json: PNG.toString("base64") }] }]
const paint = (images: number) => ({ model: "gpt-image-1", prompt: "a lock", image: Array(images).fill("i") })

describe("images of a request", () => {
  it.live("are 16 at most", () =>
    Effect.gen(function* () {
      const { call, requests } = yield* start("openai", painted)
      for (let time = 0; time < 2; time++) {
        assert.strictEqual((yield* call(IMAGES, paint(16))).status, 200)
      }
      const { body, status } = yield* call(IMAGES, paint(17))
      assert.deepStrictEqual([status, (body["error"] as Fields)["param"]], [400, "image"])
      assert.lengthOf(requests, 2)
    }).pipe(Effect.provide(layerTransport({})), Effect.scoped)
  )

  it.live("have 64 MiB together at most", () =>
    Effect.gen(function* () {
      const { call, requests } = yield* start("openai", painted, {}, 22 * 1024 * 1024)
      const { body, status } = yield* call(IMAGES, paint(3))
      assert.deepStrictEqual([status, (body["error"] as Fields)["param"]], [400, "image"])
      assert.isEmpty(requests)
    }).pipe(Effect.provide(layerTransport({})), Effect.scoped)
  )
})

describe("a task", () => {
  it.live("whose result names another result and has no file has failed", () =>
    Effect.gen(function* () {
      const { call, requests } = yield* start("fal", () => [200, { status: "COMPLETED", request_id: "1" }])
      const { body } = yield* call(IMAGES, { model: "a/b", prompt: "a lock" })
      const ended = yield* call(`${IMAGES}/${String(body["id"])}`)
      assert.deepInclude(ended.body, { status: "failed" })
      assert.deepInclude(ended.body["error"], { message: "The result has no file" })
      assert.lengthOf(requests, 3)
    }).pipe(Effect.provide(layerTransport({})), Effect.scoped)
  )
})

describe("a configured header with the key", () => {
  const messages = [{ role: "user", content: "hello" }]

  it.live("replaces the credential, and keeps the vendor's other headers", () =>
    Effect.gen(function* () {
      const { call, requests } = yield* start("anthropic", () => [200, {}], {
        headers: { "x-proxy-key": "Key {apiKey}" }
      })
      yield* call("/v1/chat/completions", { model: "claude-opus-4-5", messages })
      const { headers = {} } = requests[0] ?? {}
      assert.strictEqual(headers["x-proxy-key"], `Key ${KEY}`)
      assert.match(String(headers["anthropic-version"]), /^\d{4}-\d\d-\d\d$/)
      assert.notProperty(headers, "x-api-key")
      assert.notProperty(headers, "authorization")
    }).pipe(Effect.provide(layerTransport({})), Effect.scoped)
  )

  it.live("is sent in place of a credential that is more than the key", () =>
    Effect.gen(function* () {
      const { call, requests } = yield* start("fal", () => [200, {}], {
        headers: { "x-proxy": "{apiKey}" }
      })
      yield* call(IMAGES, { model: "a/b", prompt: "a lock" })
      const { headers = {} } = requests[0] ?? {}
      assert.strictEqual(headers["x-proxy"], KEY)
      assert.notProperty(headers, "authorization")
    }).pipe(Effect.provide(layerTransport({})), Effect.scoped)
  )
})
