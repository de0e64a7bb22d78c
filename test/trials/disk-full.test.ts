/** A full disk while a video is made: the task fails and costs nothing, and the server keeps running. */
import { Video } from "@sluice/core/contract"
import { assert, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import sharp from "sharp"
import { addressIn, dataFolder, keyIn, startProcess, tokenIn } from "../demo-server/Process.ts"

/** Blocks of 512 bytes, 1 MiB together: enough for the accounts, half of what the video needs. */
const BLOCKS = 2048

const noise = async (): Promise<string> => {
  const raw = { width: 480, height: 270, channels: 3 } as const
  const pixels = randomBytes(raw.width * raw.height * raw.channels)
  return `data:image/png;base64,${(await sharp(pixels, { raw }).png().toBuffer()).toString("base64")}`
}

/** A video takes a second or two on an idle machine. */
const FILM = 120_000

const Self = Schema.Struct({ data: Schema.Struct({ quota: Schema.Finite }) })

// Skipped: Windows has no limit on the size of files.
it.live.skipIf(process.platform === "win32")(
  "a video that does not fit on the disk fails and is not charged (needs ulimit)",
  () =>
    Effect.gen(function* () {
      const data = yield* dataFolder
      const started = yield* startProcess({ SLUICE_DATA: data }, { fileBlocks: BLOCKS })
      const banner = yield* started.printed("The API key is for")
      const [url, key, token] = [addressIn(banner), keyIn(banner), tokenIn(banner)]
      const ask = <S extends Schema.ConstraintDecoder<unknown>>(
        schema: S,
        path: string,
        secret = key,
        body?: object
      ) =>
        Effect.promise(async () => {
          const response = await fetch(new URL(path, url), {
            method: body === undefined ? "GET" : "POST",
            headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
            ...(body !== undefined && { body: JSON.stringify(body) })
          })
          return Schema.decodeUnknownSync(schema)(await response.json())
        })
      const quota = Effect.map(ask(Self, "/api/user/self", token), (self) => self.data.quota)

      const before = yield* quota
      const input_reference = yield* Effect.promise(noise)
      const shape = { seconds: "1", size: "640x360" }
      const request = { model: "sluice-video-from-image", prompt: "A barge", ...shape, input_reference }
      const { id } = yield* ask(Video, "/v1/videos", key, request)
      const ended = yield* Effect.repeat(ask(Video, `/v1/videos/${id}`), {
        schedule: Schedule.spaced("50 millis"),
        until: ({ status }) => status === "completed" || status === "failed"
      })
      assert.strictEqual(ended.status, "failed")
      assert.match(JSON.stringify(ended.error), /disk or store is full/)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(data, "media", "files"))), [])
      yield* Effect.repeat(quota, { schedule: Schedule.spaced("50 millis"), until: (now) => now === before })
      assert.strictEqual((yield* Effect.promise(() => fetch(new URL("/readyz", url)))).status, 200)
    }).pipe(Effect.scoped),
  FILM
)
