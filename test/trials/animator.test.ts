import { assert, beforeAll, describe, it } from "@effect/vitest"
import { animate, type AnimateRequest, animation, checkAnimate } from "@sluice/embedded/media"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { getPriority } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import type { Worker } from "node:worker_threads"
import type { Browser } from "playwright-core"
import { openChromium } from "../web/chromium.ts"
import { GIF, png, RED } from "../laws/Pictures.ts"
import { readFilm } from "../embedded/animatorMp4.ts"
import { played } from "../embedded/animatorPlayer.ts"

const request: AnimateRequest = { prompt: "blue waves", seconds: 1.5, width: 160, height: 90 }

let browser: Browser
beforeAll(async () => {
  browser = await openChromium()
})

const watched = (mp4: Uint8Array, moments: ReadonlyArray<number>) =>
  Effect.promise(() => played(browser, mp4, moments))

const meanOf = (picture: ReadonlyArray<number>, channel: 0 | 1 | 2): number =>
  (picture.reduce((sum, byte, i) => sum + (i % 4 === channel ? byte : 0), 0) * 4) / picture.length

/** The threads started during an effect. */
const threads = Effect.acquireRelease(
  Effect.sync(() => {
    const started: Array<Worker> = []
    const note = (worker: Worker) => {
      if (worker.threadName === "sluice-film") started.push(worker)
    }
    process.on("worker", note)
    return { started, note }
  }),
  ({ note }) => Effect.sync(() => process.off("worker", note))
)

const refusal = (changes: Partial<AnimateRequest>) =>
  Effect.map(Effect.flip(animate({ ...request, ...changes })), ({ operation, reason }) => {
    assert.strictEqual(operation, "videos")
    assert.strictEqual(reason._tag, "InvalidRequest")
    return reason._tag === "InvalidRequest" ? reason : undefined
  })

describe("a film", () => {
  it.effect("is H.264 in MP4 of the requested size and length, index first", () =>
    Effect.gen(function* () {
      const film = readFilm(yield* animate({ ...request, seconds: 2 }))
      assert.deepStrictEqual(film, {
        order: ["ftyp", "moov", "mdat"],
        width: 160,
        height: 90,
        seconds: 2,
        frames: 48,
        codec: "avc1",
        jumps: [0, 24],
        keys: [0, 24],
        made: 0
      })
    })
  )

  it.effect("loses a pixel of an odd side, and has at least one frame", () =>
    Effect.gen(function* () {
      const { frames, height, seconds, width } = readFilm(
        yield* animate({ ...request, width: 81, height: 47, seconds: 0.01 })
      )
      assert.deepStrictEqual([width, height, frames], [80, 46, 1])
      assert.closeTo(seconds, 1 / 24, 0.001)
    })
  )

  it.effect("has the same bytes for the same request, and others for another seed or prompt", () =>
    Effect.gen(function* () {
      const short = { ...request, seconds: 0.25 }
      const film = yield* animate(short)
      assert.deepStrictEqual(yield* animate({ ...short, seed: 0 }), film)
      assert.notDeepEqual(yield* animate({ ...short, seed: 1 }), film)
      assert.notDeepEqual(yield* animate({ ...short, prompt: "red waves" }), film)
    })
  )

  it.effect("plays in a browser", () =>
    Effect.gen(function* () {
      const { currentTime, duration, pictures, videoHeight, videoWidth } = yield* watched(
        yield* animate(request),
        [0, 1.2]
      )
      assert.deepStrictEqual([videoWidth, videoHeight], [160, 90])
      assert.closeTo(duration, 1.5, 0.01)
      assert.closeTo(currentTime, 1.5, 0.05)
      const [first = [], later = []] = pictures
      assert.strictEqual(first.length, 160 * 90 * 4)
      const changed = first.filter((byte, i) => Math.abs(byte - (later[i] ?? 0)) > 12)
      assert.isAbove(changed.length / first.length, 0.02)
      assert.isAbove(meanOf(first, 2), meanOf(first, 0) + 15)
    })
  )

  it.effect("moves the camera over a reference", () =>
    Effect.gen(function* () {
      const { pictures } = yield* watched(yield* animate({ ...request, reference: png(RED) }), [0, 1.4])
      for (const picture of pictures) {
        assert.isAbove(meanOf(picture, 0), 130)
        assert.isBelow(meanOf(picture, 2), 90)
      }
    })
  )
})

describe("animation", () => {
  it.effect("emits its progress", () =>
    Effect.gen(function* () {
      const shares: Array<number> = []
      const mp4 = yield* animate(request, (share) => Effect.sync(() => void shares.push(share)))
      assert.deepStrictEqual(
        shares.map((share) => share * 36),
        [6, 12, 18, 24, 30, 36]
      )
      const states = yield* Stream.runCollect(animation(request))
      assert.deepStrictEqual(
        states.map(({ drawn, frames, mp4 }) => [drawn, frames, mp4 === undefined]),
        [6, 12, 18, 24, 30, 36].map((drawn) => [drawn, 36, drawn < 36])
      )
      assert.deepStrictEqual(states.at(-1)?.mp4, mp4)
    })
  )

  it.effect("ends its thread when interrupted, and makes the next film", () =>
    Effect.gen(function* () {
      const { started } = yield* threads
      const begun = yield* Deferred.make<void>()
      const film = yield* Effect.forkChild(
        animate({ ...request, seconds: 15 }, () => Deferred.succeed(begun, undefined))
      )
      yield* Deferred.await(begun)
      assert.strictEqual(started.length, 1)
      assert.isAbove(started[0]?.threadId ?? -1, 0)
      yield* Fiber.interrupt(film)
      // A thread that has ended has no number.
      assert.strictEqual(started[0]?.threadId, -1)
      assert.strictEqual(readFilm(yield* animate({ ...request, seconds: 0.25 })).frames, 6)
      assert.deepStrictEqual(
        started.map(({ threadId }) => threadId),
        [-1, -1]
      )
    })
  )

  // Skipped: elsewhere a thread has no priority of its own.
  it.effect.skipIf(process.platform !== "linux")("encodes in a thread of low priority (Linux)", () =>
    Effect.gen(function* () {
      const film = /^\d+ \(sluice-film/
      const tasks = () =>
        readdirSync("/proc/self/task").flatMap((id) => {
          try {
            return [readFileSync(`/proc/self/task/${id}/stat`, "utf8")]
          } catch {
            // It has ended in between.
            return []
          }
        })
      // The 17th after the name.
      const niceOf = (stat: string) => Number(stat.slice(stat.lastIndexOf(")")).split(" ")[17])
      const seen = new Set<number>()
      yield* animate(request, () =>
        Effect.sync(() => {
          for (const stat of tasks()) if (film.test(stat)) seen.add(niceOf(stat))
        })
      )
      assert.deepStrictEqual([...seen], [Math.max(10, getPriority())])
    })
  )

  it.effect("does not block the main thread", () =>
    Effect.gen(function* () {
      let turns = 0
      const others = yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            Effect.sync(() => turns++),
            Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          )
        )
      )
      const at: Array<number> = []
      yield* animate(request, () => Effect.sync(() => void at.push(turns)))
      yield* Fiber.interrupt(others)
      // Between any two messages of the thread others had their turn, again and again.
      for (const [i, before] of at.slice(0, -1).entries()) assert.isAbove((at[i + 1] ?? 0) - before, 10)
    })
  )

  it.effect("refuses an invalid request without starting a thread", () =>
    Effect.gen(function* () {
      const { started } = yield* threads
      for (const seconds of [0, -1, 15.1, 1e9, Number.NaN, Infinity]) {
        assert.strictEqual((yield* refusal({ seconds }))?.param, "seconds")
      }
      for (const width of [0, 15, 4097, 64.5, Number.NaN]) {
        assert.strictEqual((yield* refusal({ width }))?.param, "size")
      }
      assert.strictEqual((yield* refusal({ width: 4096, height: 4096 }))?.param, "size")
      assert.strictEqual((yield* refusal({ seed: 0.5 }))?.param, "seed")
      assert.strictEqual((yield* refusal({ reference: GIF }))?.code, "invalid_image")
      const { reason } = yield* Effect.flip(checkAnimate({ ...request, seconds: 16 }))
      assert.deepInclude(reason, { _tag: "InvalidRequest", param: "seconds" })
      yield* checkAnimate(request)
      assert.strictEqual(started.length, 0)
    })
  )

  it.effect("refuses a damaged reference and ends its thread", () =>
    Effect.gen(function* () {
      const { started } = yield* threads
      const reason = yield* refusal({ reference: png(RED).subarray(0, 60) })
      assert.deepInclude(reason, { param: "image", code: "invalid_image" })
      assert.match(reason?.message ?? "", /cannot be decoded/)
      assert.deepStrictEqual(
        started.map(({ threadId }) => threadId),
        [-1]
      )
    })
  )

  it.effect("finds its worker file in a JavaScript build", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const folder = yield* asJavaScript
        const program = `
          import { animate } from ${JSON.stringify(join(folder, "media/index.js"))}
          import { Effect } from "effect"
          const mp4 = await Effect.runPromise(animate({ prompt: "", seconds: 0.25, width: 32, height: 32 }))
          process.stdout.write(Buffer.from(mp4).toString("base64"))`
        const options = ["--conditions=@sluice/source", "--input-type=module", "--eval", program]
        const { stdout } = yield* Effect.promise(() =>
          promisify(execFile)(process.execPath, options, { cwd: folder })
        )
        assert.strictEqual(readFilm(Uint8Array.from(Buffer.from(stdout, "base64"))).frames, 6)
      })
    )
  )
})

const root = join(import.meta.dirname, "../..")

/** The package as JavaScript, in a folder that resolves the same packages. */
const asJavaScript = Effect.acquireRelease(
  Effect.promise(async () => {
    const sources = join(root, "packages/embedded/src")
    const home = join(root, "node_modules/.cache")
    await mkdir(home, { recursive: true })
    const folder = await mkdtemp(join(home, "media-"))
    await writeFile(join(folder, "package.json"), '{ "type": "module" }')
    for (const path of readdirSync(sources, { recursive: true, encoding: "utf8" })) {
      if (!/^(media|vision)\/.*\.ts$|^[^/]+\.ts$/.test(path)) continue
      const code = stripTypeScriptTypes(readFileSync(join(sources, path), "utf8"))
      const to = join(folder, path.replace(/\.ts$/, ".js"))
      await mkdir(dirname(to), { recursive: true })
      await writeFile(to, code.replaceAll(/(from|import\()( ?"\.[^"]+)\.ts"/g, '$1$2.js"'))
    }
    return folder
  }),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)
