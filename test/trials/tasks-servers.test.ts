/** Several servers on one PostgreSQL: a task is visible, charged and removable at each of them. */
import { Video } from "@sluice/core/contract"
import { assert, it } from "@effect/vitest"
import { makeDataUri } from "@sluice/core/media"
import { Effect, Schedule } from "effect"
import { startPaidServer, costs, post, priced, type Server } from "../demo-server/PaidServer.ts"
import sharp from "sharp"
import { onPostgres } from "../demo-server/Stores.ts"
import { startServer } from "../demo-server/TestServer.ts"
import { json } from "../demo-server/Upstream.ts"

onPostgres((_, store) => {
  /** Another server of the same database, called with the first one's credentials. */
  const beside = (first: Server, env: Record<string, string>) =>
    Effect.map(startServer({ env }), (second): Server => {
      const call: Server["call"] = (path, options = {}) =>
        second.call(path, {
          ...options,
          as: "none",
          headers: {
            authorization: `Bearer ${options.as === "token" ? first.secrets.accessToken : first.secrets.apiKey}`
          }
        })
      return { ...second, call }
    })

  it.live("a task of an upstream works at any server", () =>
    Effect.gen(function* () {
      let status = "in_progress"
      const { requests, env, server } = yield* startPaidServer(
        (response, { method, path }) => {
          if (!path.endsWith("/content"))
            return json(response, method === "DELETE" ? {} : { id: "film", status })
          response.writeHead(200, { "content-type": "video/mp4" })
          response.end("bytes")
        },
        yield* store
      )
      const other = yield* beside(server, env)
      const film = { model: "animator", prompt: "a lock", seconds: "8" }
      yield* costs(server, post(server, "/v1/videos", film), 80)
      status = "completed"
      const path = "/v1/videos/film"
      const seen = yield* costs(server, other.call(path), 0)
      assert.deepInclude(yield* Effect.promise(() => seen.json()), { id: "film", status })
      const content = yield* other.call(`${path}/content`)
      assert.strictEqual(yield* Effect.promise(() => content.text()), "bytes")
      assert.strictEqual((yield* other.call(path, { method: "DELETE" })).status, 200)
      for (const one of [server, other]) assert.strictEqual((yield* one.call(path)).status, 404)
      assert.strictEqual(requests().at(-1)?.method, "DELETE")
    }).pipe(Effect.scoped)
  )

  it.live("a task of embedded models works at any server, but its file only where it was made", () =>
    Effect.gen(function* () {
      const env = { ...(yield* store), ...(yield* priced) }
      const server = yield* startServer({ env })
      const other = yield* beside(server, env)
      const grey = sharp({ create: { width: 16, height: 16, channels: 3, background: "grey" } }).png()
      const input_reference = makeDataUri("image/png", yield* Effect.promise(() => grey.toBuffer()))
      const film = { prompt: "A barge", seconds: "1", size: "160x90", input_reference }
      const made = yield* post(server, "/v1/videos", { model: "sluice-video-from-image", ...film })
      const path = `/v1/videos/${(JSON.parse(made.text) as { readonly id: string }).id}`
      const { status } = yield* Effect.repeat(server.json(Video, path), {
        schedule: Schedule.spaced("50 millis"),
        until: ({ status }) => status === "completed" || status === "failed"
      })
      const [told, content] = yield* Effect.all([other.call(path), other.call(`${path}/content`)])
      assert.deepInclude(yield* Effect.promise(() => told.json()), { status: "completed" })
      assert.strictEqual(status, "completed")
      const { error } = (yield* Effect.promise(() => content.json())) as {
        readonly error: { readonly message: string }
      }
      assert.strictEqual(content.status, 503)
      assert.include(error.message, "another server")

      const painting = { model: "sluice-image-i3", prompt: "A lock", size: "16x16" }
      const { text } = yield* post(server, "/v1/images/generations", painting)
      const [{ url }] = (JSON.parse(text) as { readonly data: readonly [{ readonly url: string }] }).data
      const image = url.replace(server.url, other.url)
      const refused = yield* post(other, "/v1/images/generations", { ...painting, image })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, "at this server")
    }).pipe(Effect.scoped)
  )
})
