/** Images and videos of each vendor through the server: requests, states, files, money and errors. */
import { assert, describe, it } from "@effect/vitest"
import { ErrorBody, ImageResponse, Video } from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import { DIALECTS, gateway } from "../../packages/providers/src/index.ts"
import { quotaOf } from "../demo-server/AccountCalls.ts"
import { costs, post, type Server } from "../demo-server/PaidServer.ts"
import { type Fields, MP4 } from "../providers/fakes/MediaVendor.ts"
import { painterOf, startVendorServer } from "../providers/MediaServer.ts"
import { MEDIA_VENDORS } from "../providers/MediaVendors.ts"
import { MODEL_VENDORS } from "../providers/ModelVendors.ts"

const lookUp = (server: Server, path: string) =>
  Effect.flatMap(server.call(path), (response) =>
    Effect.promise(async () => (await response.json()) as Fields)
  )

/** Polls a task until it has ended, and returns its states. */
const statesOf = Effect.fnUntraced(function* (server: Server, path: string, times = 3) {
  const states: Array<Fields> = []
  for (let at = 0; at < times; at++) states.push(yield* lookUp(server, path))
  return states
})

const errorIn = (text: string) => Schema.decodeUnknownSync(ErrorBody)(JSON.parse(text)).error

/** The units of a second and of an image, as in the test's prices. */
const [SECOND, IMAGE] = [10, 100]

const VENDORS = [...MEDIA_VENDORS, ...MODEL_VENDORS]

it("every operation of images and videos in the registry is tested here", () => {
  const tested = VENDORS.flatMap(({ dialect, images, videos }) => [
    ...(images.length > 0 ? [`${dialect} images`] : []),
    ...(videos === undefined ? [] : [`${dialect} videos`])
  ])
  const offered = DIALECTS.flatMap(({ id, operations }) =>
    (["images", "videos"] as const).flatMap((name) =>
      operations[name] === undefined || operations[name] === gateway.operations[name] ? [] : [`${id} ${name}`]
    )
  )
  assert.sameMembers(tested, offered)
})

for (const vendor of VENDORS) {
  const { base = "", images, key, dialect, removal, videos, wrong } = vendor
  const start = Effect.gen(function* () {
    const fake = yield* vendor.start
    const server = yield* startVendorServer({
      dialect,
      url: fake.url + base,
      key,
      images: images.map(({ model }) => model),
      ...(videos !== undefined && { video: videos.model })
    })
    return { fake, server }
  })
  const IMAGES = "/v1/images/generations"
  const kinds = [
    ...(videos === undefined ? [] : [["animator", "/v1/videos", undefined] as const]),
    ...images.map((one, at) => [painterOf(at), IMAGES, one] as const)
  ]

  describe(`${dialect}`, () => {
    if (videos !== undefined) {
      it.live("makes videos from requests of the interface, and streams the file without the key", () =>
        Effect.gen(function* () {
          const { fake, server } = yield* start
          for (const { body, path, request } of videos.cases) {
            const sent = { model: "animator", prompt: "a lock", ...request }
            const reserved = Number(request["seconds"] ?? 15) * SECOND
            const created = yield* costs(server, server.json(Video, "/v1/videos", { json: sent }), reserved)
            assert.match(created.id, /^video_[\w-]{20,}$/)
            const received = fake.requests.at(-1)
            assert.deepStrictEqual([received?.method, received?.path, received?.fields], ["POST", path, body])

            const task = `/v1/videos/${created.id}`
            assert.strictEqual((yield* server.call(`${task}/content`)).status, 404)
            const made = Number(request["seconds"] ?? videos.seconds ?? reserved / SECOND)
            const [running, ended] = yield* costs(server, statesOf(server, task, 2), made * SECOND - reserved)
            assert.deepInclude(running, { id: created.id, model: "animator", status: "in_progress" })
            assert.strictEqual(running?.["progress"], videos.progress)
            assert.deepInclude(ended, { id: created.id, status: "completed" })
            assert.strictEqual(ended?.["seconds"], request["seconds"] ?? videos.seconds)
            assert.strictEqual(ended?.["size"], request["size"])

            const file = yield* server.call(`${task}/content`)
            assert.strictEqual(file.headers.get("content-type"), "video/mp4")
            assert.deepStrictEqual(Buffer.from(yield* Effect.promise(() => file.arrayBuffer())), MP4)
            if (vendor.ownFiles === true) {
              assert.isEmpty(fake.fileRequests)
              continue
            }
            assert.isNotEmpty(fake.fileRequests)
            for (const { headers } of fake.fileRequests) {
              assert.notProperty(headers, "authorization")
              for (const secret of key.split(":")) assert.notInclude(JSON.stringify(headers), secret)
            }
          }
        }).pipe(Effect.scoped)
      )
    }

    for (const [at, { cases, lost = 0, mode, model, usage }] of images.entries()) {
      it.live(`makes images of ${model} from requests of the interface`, () =>
        Effect.gen(function* () {
          const { fake, server } = yield* start
          for (const { body, path, request } of cases) {
            const name = painterOf(at)
            const sent = { model: name, prompt: "a lock", ...request }
            const count = Number(request["n"] ?? 1)
            const call = server.json(ImageResponse, "/v1/images/generations", { json: sent })
            const created = yield* costs(server, call, count * IMAGE)
            assert.strictEqual(created.extra?.["model"] ?? name, name)
            const received = fake.requests.at(-1)
            assert.deepStrictEqual([received?.method, received?.path, received?.fields], ["POST", path, body])
            if (mode === "once") {
              assert.lengthOf(created.data ?? [], count)
              if (usage !== undefined) assert.deepEqual<unknown>(created.extra?.["usage"], usage)
              continue
            }
            assert.match(created.id ?? "", /^img_[\w-]{20,}$/)
            const task = `/v1/images/generations/${created.id}`
            const [, running, ended] = yield* costs(server, statesOf(server, task), -lost * IMAGE)
            assert.deepInclude(running, { id: created.id, status: "in_progress" })
            assert.deepInclude(ended, { id: created.id, status: "completed" })
            const { data = [] } = Schema.decodeUnknownSync(ImageResponse)(ended)
            assert.lengthOf(data, count - lost)
            for (const { url } of data) assert.isTrue(url?.startsWith(fake.files), url)
          }
        }).pipe(Effect.scoped)
      )
    }

    it.live("refunds a task that fails, and says why", () =>
      Effect.gen(function* () {
        const { server } = yield* start
        for (const [model, path, image] of kinds) {
          if (image?.mode === "once") continue
          const had = yield* quotaOf(server)
          for (const [prompt, code] of [
            ["a failed task", undefined],
            ["a moderated task", "content_policy_violation"]
          ] as const) {
            const { id } = yield* server.json(Video, path, {
              json: { model, prompt, ...videos?.cases[0]?.request }
            })
            const [, , ended] = yield* statesOf(server, `${path}/${id}`)
            assert.deepInclude(ended, { id, status: "failed" }, prompt)
            const error = ended?.["error"] as Fields
            assert.isNotEmpty(error["message"])
            if (code !== undefined) assert.strictEqual(error["code"], code)
          }
          if (wrong.whenRun === true) {
            const json = { model, prompt: "a lock", ...wrong.request }
            const { id } = yield* server.json(Video, path, { json })
            assert.deepInclude((yield* statesOf(server, `${path}/${id}`)).at(-1), { status: "failed" })
          }
          assert.strictEqual(yield* quotaOf(server), had)
        }
      }).pipe(Effect.scoped)
    )

    it.live("maps the errors of creations", () =>
      Effect.gen(function* () {
        const { server } = yield* start
        for (const [model, path, image] of kinds) {
          const failed = (prompt: string, more: Fields = {}) =>
            costs(server, post(server, path, { model, prompt, ...more }), 0)
          if (vendor.moderatesLate !== true) {
            const { status, text } = yield* failed("moderation")
            const { moderationCode = "content_policy_violation" } = vendor
            assert.deepStrictEqual([status, errorIn(text).code], [400, moderationCode], text)
          }
          const broken = yield* failed("a broken vendor")
          assert.include([500, 502], broken.status)
          assert.notInclude(errorIn(broken.text).message, "TypeError")
          const poor = yield* failed("no credits")
          assert.strictEqual(poor.status, 502)
          assert.include(errorIn(poor.text).message, "balance of this server's key for `vendor` is used up")
          const busy = yield* failed("rate limit")
          assert.strictEqual(busy.status, 429)
          assert.isNotNull(busy.headers.get("retry-after"))
          if (wrong.whenRun !== true) {
            const { status, text } = yield* failed("a lock", wrong.request)
            assert.include([400, 422], status)
            assert.strictEqual(errorIn(text).param ?? undefined, wrong.param, text)
          }
          if (image?.blocks === true) {
            const { status, text } = yield* failed("a moderated task")
            assert.deepStrictEqual([status, errorIn(text).code], [400, "content_policy_violation"], text)
          }
          if (image?.perCall === 1) {
            const { status, text } = yield* failed("a lock", { n: 2 })
            assert.deepStrictEqual([status, errorIn(text).param], [400, "n"])
          }
        }
      }).pipe(Effect.scoped)
    )

    if (removal !== undefined && videos !== undefined) {
      it.live("removes a task at the vendor, and refunds it", () =>
        Effect.gen(function* () {
          const { fake, server } = yield* start
          const had = yield* quotaOf(server)
          const request = { model: "animator", prompt: "a lock", ...videos.cases[0]?.request }
          const { id } = yield* server.json(Video, "/v1/videos", { json: request })
          const removed = yield* server.call(`/v1/videos/${id}`, { method: "DELETE" })
          assert.strictEqual(removed.status, 200)
          const { method, path } = fake.requests.at(-1) ?? {}
          assert.isTrue(`${method} ${path}`.startsWith(removal), `${method} ${path}`)
          assert.strictEqual(yield* quotaOf(server), had)
          assert.strictEqual((yield* server.call(`/v1/videos/${id}`)).status, 404)
        }).pipe(Effect.scoped)
      )

      it.live("removes an ended task, and does not refund it", () =>
        Effect.gen(function* () {
          const { server } = yield* start
          const json = { model: "animator", prompt: "a lock", ...videos.cases[0]?.request }
          const { id } = yield* server.json(Video, "/v1/videos", { json })
          const task = `/v1/videos/${id}`
          assert.deepInclude((yield* statesOf(server, task)).at(-1), { status: "completed" })
          const removed = yield* costs(server, server.call(task, { method: "DELETE" }), 0)
          assert.strictEqual(removed.status, 200)
          assert.strictEqual((yield* server.call(task)).status, 404)
        }).pipe(Effect.scoped)
      )
    }
  })
}
