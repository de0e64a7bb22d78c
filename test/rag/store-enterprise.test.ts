import { assert, describe, it } from "@effect/vitest"
import { Library } from "@sluice/rag"
import { Effect, Redacted } from "effect"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { storeError } from "../../packages/rag/src/store/StoreError.ts"
import { modelsLayer } from "./Models.ts"

const KEY = "sk-of-the-pond"

/** A local server that refuses every request with a status, and records the requests. */
const refusing = (status: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const asked: Array<{ readonly url: string; readonly headers: IncomingHttpHeaders }> = []
        const server = createServer((request, response) => {
          asked.push({ url: request.url ?? "", headers: request.headers })
          request.resume()
          response.writeHead(status, { "content-type": "application/json" }).end('{"error":"no"}')
        })
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        return { asked, server }
      }),
      ({ server }) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
    ),
    ({ asked, server }) => ({
      asked,
      hostOverride: `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    })
  )

describe("an address of a store", () => {
  it.live.each([
    ["az://container/path", "PermissionDenied", "environment variables"],
    ["db://name", "PermissionDenied", "apiKey"],
    ["gs://", "Malformed", "begins with s3://"],
    ["ftp://host/path", "Malformed", "begins with s3://"]
  ] as const)("%s without credentials, or misspelt, is not said to be damaged", ([address, reason, advice]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Library.open(address))
      assert.deepStrictEqual([error.stage, error.reason], ["open", reason])
      assert.include(error.message, advice)
      assert.notInclude(error.message, "damaged")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it("of Google Cloud Storage without credentials names them", () => {
    const cause = `Invalid input, Failed to connect to namespace: IO { source: Generic { store: "GCS", source: TokenRequest { source: RetryError`
    const { message, reason } = storeError("open", "opening gs://bucket/path", cause)
    assert.strictEqual(reason, "PermissionDenied")
    assert.include(message, "credentials")
  })
})

describe("a library on LanceDB Enterprise", () => {
  for (const [status, apiKey] of [
    [401, KEY],
    [403, Redacted.make(KEY)]
  ] as const)
    it.live(`sends the database name and key, and a ${status} is a typed error without the key`, () =>
      Effect.gen(function* () {
        const { asked, hostOverride } = yield* refusing(status)
        const error = yield* Library.open("db://pond", { apiKey, region: "eu-west-1", hostOverride }).pipe(
          Effect.flip
        )
        assert.deepStrictEqual(
          [error._tag, error.stage, error.reason],
          ["RagError", "open", "PermissionDenied"]
        )
        assert.include(error.message, "apiKey")
        assert.notInclude(JSON.stringify(error) + error.message, KEY)
        assert.isAtLeast(asked.length, 1)
        assert.match(asked[0]!.url, /^\/v1\/table\/\w+\//)
        assert.strictEqual(asked[0]!.headers["x-api-key"], KEY)
        assert.strictEqual(asked[0]!.headers["x-lancedb-database"], "pond")
      }).pipe(Effect.provide(modelsLayer), Effect.scoped)
    )
})
