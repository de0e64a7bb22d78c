/** Videos over HTTP: states of each group, the MP4, both kinds of body, and rejected requests. */
import { assert, layer } from "@effect/vitest"
import { ErrorBody, ModelsResponse, VideoDeletion, Video } from "@sluice/core/contract"
import { makeDataUri } from "@sluice/core/media"
import { Effect, Schedule, Schema } from "effect"
import sharp from "sharp"
import { planVideo, videoModels } from "../../apps/demo-server/src/embedded/VideoModels.ts"
import { testServer, TestServer } from "../demo-server/TestServer.ts"

const path = "/v1/videos"
const prompt = "A barge goes through a lock"

/** Width and height by the sample entry, seconds by the movie header. */
const factsOf = (file: Buffer) => {
  const avc = file.indexOf("avc1", file.indexOf("stsd"))
  const movie = file.indexOf("mvhd")
  return {
    brand: file.toString("latin1", 4, 8),
    size: [file.readUInt16BE(avc + 28), file.readUInt16BE(avc + 30)],
    seconds: file.readUInt32BE(movie + 20) / file.readUInt32BE(movie + 16)
  }
}

const red = Effect.promise(() =>
  sharp({ create: { width: 160, height: 90, channels: 3, background: "#d02020" } })
    .png()
    .toBuffer()
)

layer(testServer(), { excludeTestServices: true, timeout: "120 seconds" })("videos", (it) => {
  const create = (body: object) => Effect.flatMap(TestServer, ({ json }) => json(Video, path, { json: body }))
  const get = (id: string) => Effect.flatMap(TestServer, ({ json }) => json(Video, `${path}/${id}`))
  const remove = (id: string) =>
    Effect.flatMap(TestServer, ({ json }) => json(VideoDeletion, `${path}/${id}`, { method: "DELETE" }))
  const ended = (id: string) =>
    Effect.repeat(get(id), {
      schedule: Schedule.spaced("100 millis"),
      until: ({ status }) => status === "completed" || status === "failed"
    })
  const refused = (body: object) =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      return yield* failure(yield* call(path, { json: body }))
    })
  const failure = (response: Response) =>
    Effect.map(
      Effect.promise(() => response.json()),
      (json) => ({ status: response.status, ...Schema.decodeUnknownSync(ErrorBody)(json).error })
    )

  it.effect("every group has a model; one starts from images, one fails", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const { data } = yield* json(ModelsResponse, "/v1/models")
      const groups = data.flatMap(({ extra, id }) =>
        id.startsWith("sluice-video-") ? [extra?.["group"]] : []
      )
      const all = ["V-A", "V-B", "V-C", "V-D", "V-E", "V-F", "V-G"]
      assert.sameMembers(groups, [...all, "image-to-video", "V-C"])
    })
  )

  it.effect("only V-A starts as queued, and removal stops a running task", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      for (const letter of ["a", "b", "c", "d", "e", "f", "g"]) {
        const { extra, id, status } = yield* create({ model: `sluice-video-v-${letter}`, prompt })
        assert.strictEqual(status, letter === "a" ? "queued" : "in_progress")
        assert.strictEqual(extra?.["object"], "video")
        assert.deepInclude(yield* failure(yield* call(`${path}/${id}/content`)), {
          status: 400,
          code: "video_not_ready"
        })
        assert.deepStrictEqual(yield* remove(id), { id, object: "video.deleted", deleted: true })
        assert.strictEqual((yield* call(`${path}/${id}`)).status, 404)
      }
    })
  )

  it.effect("V-A goes from queued to in_progress, with the requested size and seconds", () =>
    Effect.gen(function* () {
      const film = { model: "sluice-video-v-a", prompt, seconds: "4", size: "1280x720" }
      const { id, status } = yield* create(film)
      assert.strictEqual(status, "queued")
      const begun = yield* Effect.repeat(get(id), {
        schedule: Schedule.spaced("20 millis"),
        until: ({ status }) => status !== "queued"
      })
      assert.strictEqual(begun.status, "in_progress")
      assert.deepInclude(begun.extra, { seconds: "4", size: "1280x720" })
      yield* remove(id)
    })
  )

  it.effect("goes from in_progress to an MP4 of the requested size and seconds", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const input_reference = makeDataUri("image/png", yield* red)
      // The smallest size, to be fast.
      const film = { model: "sluice-video-from-image", prompt, seconds: "2", size: "240P", input_reference }
      const { id, status } = yield* create(film)
      assert.strictEqual(status, "in_progress")
      const done = yield* ended(id)
      assert.strictEqual(done.status, "completed")
      assert.deepInclude(done.extra, { progress: 100, seconds: "2", size: "240P" })
      const response = yield* call(`${path}/${id}/content`)
      assert.deepStrictEqual(
        [response.headers.get("content-type"), response.headers.get("cache-control")],
        ["video/mp4", "private, no-store"]
      )
      const file = Buffer.from(yield* Effect.promise(() => response.arrayBuffer()))
      assert.deepStrictEqual(factsOf(file), { brand: "ftyp", size: [426, 240], seconds: 2 })
      assert.strictEqual((yield* call(`${path}/${id}/content`, { as: "none" })).status, 401)
      yield* remove(id)
      assert.strictEqual((yield* call(`${path}/${id}/content`)).status, 404)
    })
  )

  it.effect("a size in lines or as an aspect ratio becomes pixels", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      // A group without a fixed length, to be fast. The other groups follow below.
      const input_reference = makeDataUri("image/png", yield* red)
      const model = "sluice-video-from-image"
      const { id } = yield* create({ model, prompt, seconds: "0.5", size: "1:1", input_reference })
      assert.strictEqual((yield* ended(id)).status, "completed")
      const content = yield* call(`${path}/${id}/content`)
      const facts = factsOf(Buffer.from(yield* Effect.promise(() => content.arrayBuffer())))
      assert.deepStrictEqual([facts.size, facts.seconds], [[720, 720], 0.5])
      for (const [letter, size, pixels] of [
        ["b", "4k", [3840, 2160]],
        ["e", "480P", [854, 480]],
        ["e", "1079P", [1918, 1080]],
        ["g", "1:1", [720, 720]],
        ["g", "9:16", [720, 1280]],
        ["g", "21:9", [1680, 720]]
      ] as const) {
        const model = videoModels.find(({ id }) => id === `sluice-video-v-${letter}`)!
        const { height, width } = yield* planVideo(model, { model: model.id, prompt, size })
        assert.deepStrictEqual<object>([width, height], pixels)
      }
    })
  )

  it.effect("the server responds while a video is made", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const { id } = yield* create({ model: "sluice-video-v-d", prompt, seconds: "15", size: "1920x1080" })
      yield* Effect.repeat(get(id), {
        schedule: Schedule.spaced("50 millis"),
        until: ({ extra }) => Number(extra?.["progress"]) > 0
      })
      for (let round = 0; round < 20; round++) {
        const body = { model: "sluice-lexical-1024", input: prompt }
        assert.strictEqual((yield* call("/v1/embeddings", { json: body })).status, 200)
      }
      assert.strictEqual((yield* get(id)).status, "in_progress")
      yield* remove(id)
    })
  )

  it.effect("the failing model fails", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const { id } = yield* create({ model: "sluice-video-failing", prompt })
      const failed = yield* ended(id)
      assert.strictEqual(failed.status, "failed")
      assert.deepInclude(failed.error, { code: "generation_failed" })
      const content = yield* failure(yield* call(`${path}/${id}/content?variant=video`))
      const thumbnail = yield* failure(yield* call(`${path}/${id}/content?variant=thumbnail`))
      assert.deepStrictEqual([thumbnail.status, thumbnail.param], [400, "variant"])
      assert.deepStrictEqual([content.status, content.code], [400, "video_failed"])
    })
  )

  it.effect("a form works like JSON: a file, a URL in brackets, seconds as text", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const form = new FormData()
      form.append("model", "sluice-video-from-image")
      form.append("prompt", prompt)
      form.append("seconds", "2")
      form.append("size", "160x90")
      form.append("input_reference", new Blob([Uint8Array.from(yield* red)]), "red.png")
      const { extra, id } = yield* json(Video, path, { body: form })
      assert.deepInclude(extra, { seconds: "2", prompt })
      assert.strictEqual((yield* ended(id)).status, "completed")

      const bracketed = (url: string) => {
        const form = new FormData()
        form.append("model", "sluice-video-from-image")
        form.append("prompt", prompt)
        form.append("input_reference[image_url]", url)
        return form
      }
      const begun = yield* json(Video, path, { body: bracketed(makeDataUri("image/png", yield* red)) })
      yield* remove(begun.id)
      const inner = yield* failure(yield* call(path, { body: bracketed("http://127.0.0.1/a.png") }))
      assert.deepStrictEqual(
        [inner.status, inner.code, inner.param],
        [400, "invalid_image_url", "input_reference"]
      )
    })
  )

  it.effect("an invalid form, text, and an empty body are rejected", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const sent = (type: string, body: string) => call(path, { body, headers: { "content-type": type } })
      assert.strictEqual((yield* sent("multipart/form-data", "x")).status, 400)
      assert.strictEqual((yield* sent("multipart/form-data; boundary=a", "--a\r\nnothing")).status, 400)
      assert.strictEqual((yield* sent("text/plain", "x")).status, 415)
      assert.strictEqual((yield* sent("application/json", "{")).status, 400)
      assert.strictEqual((yield* call(path, { json: { model: "x", prompt }, as: "none" })).status, 401)
    })
  )

  const of = (letter: string, fields: object) => ({ model: `sluice-video-v-${letter}`, prompt, ...fields })
  const refusals: ReadonlyArray<readonly [string, object, string]> = [
    ["seconds as a number", of("a", { seconds: 4 }), "seconds"],
    ["5 seconds of V-A", of("a", { seconds: "5" }), "seconds"],
    ["16 seconds of V-D", of("d", { seconds: "16" }), "seconds"],
    ["1e9 seconds", of("d", { seconds: "1e9" }), "seconds"],
    ["10 seconds of V-F", of("f", { seconds: "10" }), "seconds"],
    ["4k of V-C", of("c", { size: "4k" }), "size"],
    ["479P of V-E", of("e", { size: "479P" }), "size"],
    ["pixels of V-G", of("g", { size: "1280x720" }), "size"],
    ["no image for a model from an image", { model: "sluice-video-from-image", prompt }, "input_reference"],
    [
      "an hour from an image",
      { model: "sluice-video-from-image", prompt, seconds: "3600", input_reference: "AAAA" },
      "seconds"
    ],
    ["a path of the server", of("c", { input_reference: "/etc/passwd" }), "input_reference"],
    ["a file's id", of("c", { input_reference: { file_id: "f" } }), "input_reference"],
    ["no prompt", { model: "sluice-video-v-a" }, "prompt"],
    ["a prompt of 32,001 characters", of("a", { prompt: "a".repeat(32_001) }), "prompt"]
  ]
  for (const [name, body, param] of refusals) {
    it.effect(`${name} is rejected, naming \`${param}\``, () =>
      Effect.gen(function* () {
        const error = yield* refused(body)
        assert.deepStrictEqual([error.status, error.param], [400, param])
      })
    )
  }
})
