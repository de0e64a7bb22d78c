/** Generated files expire after 24 hours: 410 by link and by task. */
import { assert, it } from "@effect/vitest"
import { ErrorBody, ImageResponse, Video } from "@sluice/core/contract"
import { makeDataUri } from "@sluice/core/media"
import { Effect, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import sharp from "sharp"
import { startServer } from "../demo-server/TestServer.ts"

/** A video takes a second or two on an idle machine. */
const FILM = 120_000

it.effect(
  "links and videos expire after 24 hours",
  () =>
    Effect.gen(function* () {
      const { call, data, json } = yield* startServer()
      const image = yield* json(ImageResponse, "/v1/images/generations", {
        json: { model: "sluice-image-i1", prompt: "A lock", size: "256x256", response_format: "url" }
      })
      const link = new URL(image.data?.[0]?.url ?? "").pathname
      const grey = sharp({ create: { width: 16, height: 16, channels: 3, background: "grey" } }).png()
      const input_reference = makeDataUri("image/png", yield* Effect.promise(() => grey.toBuffer()))
      const film = { prompt: "A barge", seconds: "1", size: "160x90", input_reference }
      const made = yield* json(Video, "/v1/videos", { json: { model: "sluice-video-from-image", ...film } })
      const task = `/v1/videos/${made.id}`
      // The animator's threads do not use the test clock.
      const { status } = yield* Effect.repeat(json(Video, task), {
        schedule: Schedule.spaced("50 millis"),
        until: ({ status }) => status === "completed" || status === "failed"
      }).pipe(TestClock.withLive)
      assert.strictEqual(status, "completed")
      const statuses = Effect.forEach([link, `${task}/content`], (path) =>
        Effect.flatMap(call(path), (response) =>
          Effect.promise(async () => [response.status, await response.arrayBuffer()] as const)
        )
      )

      yield* TestClock.adjust("23 hours")
      assert.deepStrictEqual(
        (yield* statuses).map(([status]) => status),
        [200, 200]
      )
      yield* TestClock.adjust("1 hour")
      yield* TestClock.adjust("2 seconds")
      for (const [status, bytes] of yield* statuses) {
        assert.strictEqual(status, 410)
        const { error } = Schema.decodeUnknownSync(Schema.fromJsonString(ErrorBody))(
          new TextDecoder().decode(bytes)
        )
        assert.strictEqual(error.code, "expired")
      }
      assert.strictEqual((yield* json(Video, task)).status, "completed")
      // Expired files are deleted twice an hour.
      yield* TestClock.adjust("1 hour")
      const files = Effect.promise(() => readdir(join(data, "media", "files")))
      yield* Effect.repeat(files, { until: (names) => names.length === 0 })
    }).pipe(Effect.scoped),
  FILM
)
