/** Figures, crops and page images over HTTP: content, headers, and access of other users. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import sharp from "sharp"
import {
  DocumentInfoSchema,
  FigureInfo,
  IngestReportBody,
  NewUser
} from "../../apps/demo-server/src/contract/index.ts"
import { MadeKey } from "./AccountCalls.ts"
import { filesOf, testServer, TestServer } from "./TestServer.ts"

const Listed = Schema.Struct({ documents: Schema.Array(DocumentInfoSchema) })
const Figures = Schema.Struct({ figures: Schema.Array(FigureInfo) })
const Made = Schema.Struct({ data: NewUser })

/** 400 × 200 pixels at 96 dots per inch: 300 × 150 points, white. */
const picture = () =>
  sharp({ create: { width: 400, height: 200, channels: 3, background: "white" } })
    .png()
    .toBuffer()

const bytesOf = (response: Response) =>
  Effect.map(
    Effect.promise(() => response.arrayBuffer()),
    (buffer) => new Uint8Array(buffer)
  )

/** The colour of a pixel. */
const at = (png: Uint8Array, left: number, top: number) =>
  Effect.promise(async () => [
    ...(await sharp(png).extract({ left, top, width: 1, height: 1 }).removeAlpha().raw().toBuffer())
  ])

const added = Effect.gen(function* () {
  const { json } = yield* TestServer
  const bytes = new Uint8Array(yield* Effect.promise(picture))
  yield* json(IngestReportBody, "/documents", { body: filesOf({ "plan.png": bytes }) })
  const { documents } = yield* json(Listed, "/documents")
  const info = documents.find(({ path }) => path === "plan.png")
  return { bytes, info, path: `/documents/${info?.id}` }
})

layer(testServer(), { excludeTestServices: true })("figures over HTTP", (it) => {
  it.effect("are listed with a link to the crop, which is the unchanged, sandboxed image", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const { bytes, info, path } = yield* added
      assert.isAtLeast(info?.attachmentBytes ?? 0, bytes.length)
      const { figures } = yield* json(Figures, `${path}/figures`)
      assert.deepInclude(figures[0], { n: 1, kind: "figure", page: 1, box: [0, 0, 300, 150] })
      const link = figures[0]?.crop ?? ""
      const response = yield* call(link)
      assert.deepStrictEqual(yield* bytesOf(response), bytes)
      const header = (name: string) => response.headers.get(name) ?? ""
      assert.strictEqual(header("content-type"), "image/png")
      assert.match(header("content-security-policy"), /^sandbox; default-src 'none'$/)
      assert.include(header("cache-control"), "immutable")
      assert.notInclude(header("cache-control"), "public")

      const again = yield* call(`${path}/figures/1/crop`)
      assert.deepStrictEqual(yield* bytesOf(again), bytes)
      assert.strictEqual(again.headers.get("cache-control"), "private, no-cache")
      const headers = { "if-none-match": again.headers.get("etag") ?? "" }
      assert.strictEqual((yield* call(`${path}/figures/1/crop`, { headers })).status, 304)
    })
  )

  it.effect("a page image has the requested width and boxes", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const { path } = yield* added
      const image = (query: string) => Effect.flatMap(call(`${path}/pages/1/image?${query}`), bytesOf)
      const plain = yield* image("width=600")
      const etag = (yield* call(`${path}/pages/1/image?width=600`)).headers.get("etag") ?? ""
      const conditional = (query: string) =>
        Effect.map(
          call(`${path}/pages/1/image?${query}`, { headers: { "if-none-match": etag } }),
          ({ status }) => status
        )
      assert.strictEqual(yield* conditional("width=600"), 304)
      assert.strictEqual(yield* conditional("width=600&boxes=1,2,3,4"), 200)
      const { height, width } = yield* Effect.promise(() => sharp(plain).metadata())
      assert.deepStrictEqual([width, height], [600, 300])
      assert.deepStrictEqual(yield* at(plain, 100, 100), [255, 255, 255])
      const marked = yield* image("width=600&boxes=10,10,100,100;200,10,210,20")
      assert.notDeepEqual(yield* at(marked, 100, 100), [255, 255, 255])
      assert.notDeepEqual(yield* at(marked, 410, 30), [255, 255, 255])
      assert.deepStrictEqual(yield* at(marked, 300, 250), [255, 255, 255])
      // An image without text has one line as large as the page.
      const lines = yield* image("width=600&from=0&to=4")
      assert.notDeepEqual(yield* at(lines, 300, 250), [255, 255, 255])
    })
  )

  it.effect("missing figures and out-of-range parameters are errors", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const { path } = yield* added
      const status = (query: string) => Effect.map(call(`${path}${query}`), ({ status }) => status)
      const asked: ReadonlyArray<readonly [query: string, expected: number]> = [
        ["/figures/2/crop", 404],
        ["/figures/0/crop", 404],
        ["/figures/x%2f..%2fcrop/crop", 404],
        [`/figures/${"0".repeat(64)}/crop`, 404],
        ["/pages/2/image", 404],
        ["/pages/0/image", 404],
        ["/pages/one/image", 400],
        ["/pages/1/image?width=100000", 400],
        ["/pages/1/image?boxes=1,2,3", 400],
        ["/pages/1/image?boxes=1,2,3,x", 400],
        [`/pages/1/image?boxes=${Array.from({ length: 501 }, () => "1,2,3,4").join(";")}`, 400],
        ["/pages/1/image?from=-1", 400],
        ["/pages/1/image?from=9&to=4", 400],
        ["/pages/1/image?boxes=1,2,3,4;3,2,1,4", 400],
        ["/pages/1/image?box=1,2,3,4", 400]
      ]
      for (const [query, expected] of asked) assert.strictEqual(yield* status(query), expected, query)
    })
  )

  it.effect("another user's figures and pages are not found", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const { path } = yield* added
      const { figures } = yield* json(Figures, `${path}/figures`)
      const token = { as: "token", json: { username: "eve", quota: 1_000 } } as const
      const { data: eve } = yield* json(Made, "/api/user", token)
      const { data } = yield* json(MadeKey, "/api/token/", {
        as: "none",
        json: { name: "key", expired_time: -1, remain_quota: 1_000, subnet: "" },
        headers: { authorization: `Bearer ${eve.access_token}` }
      })
      const headers = { authorization: `Bearer ${data.key}` }
      const paths = [
        `${path}/figures`,
        figures[0]?.crop ?? "",
        `${path}/figures/1/crop`,
        `${path}/pages/1/image`
      ]
      for (const each of paths) {
        assert.strictEqual((yield* call(each, { as: "none", headers })).status, 404, each)
        assert.strictEqual((yield* call(each, { as: "none" })).status, 401, each)
      }
    })
  )
})
