/** Each fake of a vendor of images and videos is decoded by the vendor's own SDK, so that it is as the vendor is. */
import { assert, describe, it } from "@effect/vitest"
import { ApiError, createFalClient, ValidationError } from "@fal-ai/client"
import { GenerateVideosOperation, GoogleGenAI } from "@google/genai"
import RunwayML, { BadRequestError, RateLimitError } from "@runwayml/sdk"
import { Effect } from "effect"
import { LumaAI, UnprocessableEntityError } from "lumaai"
import OpenAI, { BadRequestError as OpenAiBadRequest, toFile } from "openai"
import Replicate from "replicate"
import { thrown } from "../clients/Clients.ts"
import { startFal } from "./fakes/fal.ts"
import { startGoogleMedia } from "./fakes/googleMedia.ts"
import { startLuma } from "./fakes/luma.ts"
import { PNG } from "./fakes/MediaVendor.ts"
import { startOpenAiImages } from "./fakes/openaiImages.ts"
import { startReplicate } from "./fakes/replicate.ts"
import { startRunway } from "./fakes/runway.ts"

const promise = <A>(run: () => Promise<A>) => Effect.promise(run)

describe("the SDK of a vendor decodes the fake", () => {
  it.live("Runway", () =>
    Effect.gen(function* () {
      const { files, url } = yield* startRunway
      const client = new RunwayML({ apiKey: "sk-runway-0123456789", baseURL: url, maxRetries: 0 })
      const film = { model: "gen4.5", promptText: "a barge", ratio: "1280:720", duration: 5 } as const
      const { id } = yield* promise(() => client.textToVideo.create(film))
      const states: Array<string> = []
      for (let at = 0; at < 3; at++) {
        const task = yield* promise(() => client.tasks.retrieve(id))
        states.push(task.status)
        if (task.status === "SUCCEEDED")
          assert.deepStrictEqual(task.output, [`${files}/${id}.mp4?_jwt=signed`])
      }
      assert.deepStrictEqual(states, ["PENDING", "RUNNING", "SUCCEEDED"])
      yield* promise(() => client.tasks.delete(id))
      const create = (more: object) => () => client.textToVideo.create({ ...film, ...more })
      assert.instanceOf(yield* promise(() => thrown(create({ ratio: "wide" })())), BadRequestError)
      assert.instanceOf(yield* promise(() => thrown(create({ promptText: "rate limit" })())), RateLimitError)
      const failed = yield* promise(create({ promptText: "a moderated task" }))
      for (let at = 0; at < 2; at++) yield* promise(() => client.tasks.retrieve(failed.id))
      const task = yield* promise(() => client.tasks.retrieve(failed.id))
      assert.strictEqual(task.status === "FAILED" && task.failureCode, "SAFETY.INPUT.TEXT")
      const image = yield* promise(() =>
        client.textToImage.create({ model: "gen4_image", promptText: "a lock", ratio: "1024:1024" })
      )
      assert.isString(image.id)
    }).pipe(Effect.scoped)
  )

  it.live("Luma", () =>
    Effect.gen(function* () {
      const { files, url } = yield* startLuma
      const client = new LumaAI({
        authToken: "luma-0123456789abcdef",
        baseURL: `${url}/dream-machine/v1`,
        maxRetries: 0
      })
      const film = { model: "ray-2", prompt: "a barge", duration: "5s" } as const
      const { id = "", state } = yield* promise(() => client.generations.video.create(film))
      assert.strictEqual(state, "queued")
      const states: Array<unknown> = []
      for (let at = 0; at < 3; at++) {
        const generation = yield* promise(() => client.generations.get(id))
        states.push(generation.state)
        if (generation.state === "completed")
          assert.strictEqual(generation.assets?.video, `${files}/${id}.mp4`)
      }
      assert.deepStrictEqual(states, ["queued", "dreaming", "completed"])
      yield* promise(() => client.generations.delete(id))
      const wrong = () => client.generations.image.create({ model: "photon-1", aspect_ratio: "2:7" as "1:1" })
      assert.instanceOf(yield* promise(() => thrown(wrong())), UnprocessableEntityError)
    }).pipe(Effect.scoped)
  )

  it.live("Replicate", () =>
    Effect.gen(function* () {
      const { files, url } = yield* startReplicate
      const client = new Replicate({ auth: "r8_0123456789abcdef", baseUrl: `${url}/v1` })
      const model = "black-forest-labs/flux-dev"
      const started = yield* promise(() =>
        client.predictions.create({ model, input: { prompt: "a lock", num_outputs: 2 } })
      )
      assert.strictEqual(started.status, "starting")
      const ended = yield* promise(() => client.wait(started, { interval: 1 }))
      assert.strictEqual(ended.status, "succeeded")
      assert.deepStrictEqual(
        ended.output,
        [0, 1].map((at) => `${files}/${started.id}-${at}.png`)
      )
      assert.strictEqual((yield* promise(() => client.predictions.cancel(started.id))).status, "canceled")
      const poor = () => client.predictions.create({ version: "5c7d5dc6", input: { prompt: "no credits" } })
      assert.match(String(yield* promise(() => thrown(poor()))), /402.*insufficient credit/)
      const failed = () =>
        client.run(model, { input: { prompt: "a moderated task" }, wait: { mode: "poll", interval: 1 } })
      assert.match(String(yield* promise(() => thrown(failed()))), /NSFW/)
    }).pipe(Effect.scoped)
  )

  it.live("fal", () =>
    Effect.gen(function* () {
      const { files, url } = yield* startFal
      // The SDK knows one host only.
      const client = createFalClient({
        credentials: "fal-id:fal-secret-0123456789",
        fetch: (input, init) => fetch(String(input).replace("https://queue.fal.run", url), init),
        retry: { maxRetries: 0 }
      })
      const states: Array<string> = []
      const { data, requestId } = yield* promise(() =>
        client.subscribe("fal-ai/flux/dev", {
          input: { prompt: "a lock", num_images: 2 },
          pollInterval: 1,
          onQueueUpdate: ({ status }) => void states.push(status)
        })
      )
      assert.deepStrictEqual(
        data.images.map((image) => image.url),
        [0, 1].map((at) => `${files}/${requestId}-${at}.png`)
      )
      assert.deepStrictEqual([...new Set(states)], ["IN_QUEUE", "IN_PROGRESS", "COMPLETED"])
      const blocked = () =>
        client.subscribe("fal-ai/flux/dev", { input: { prompt: "a moderated task" }, pollInterval: 1 })
      const error = yield* promise(() => thrown(blocked()))
      assert.instanceOf(error, ValidationError)
      assert.strictEqual(error.fieldErrors[0]?.type, "content_policy_violation")
      const poor = () => client.queue.submit("fal-ai/flux/dev", { input: { prompt: "no credits" } })
      assert.instanceOf(yield* promise(() => thrown(poor())), ApiError)
      const { request_id } = yield* promise(() =>
        client.queue.submit("fal-ai/veo3/fast/video", { input: { prompt: "p" } })
      )
      yield* promise(() => client.queue.cancel("fal-ai/veo3", { requestId: request_id }))
    }).pipe(Effect.scoped)
  )

  it.live("Google", () =>
    Effect.gen(function* () {
      const { url } = yield* startGoogleMedia
      const options = { apiKey: "AIza-0123456789abcdef", httpOptions: { baseUrl: url } }
      const client = new GoogleGenAI(options)
      const model = "gemini-2.5-flash-image"
      const { candidates } = yield* promise(() =>
        client.models.generateContent({ model, contents: "a lock" })
      )
      const [, part] = candidates?.[0]?.content?.parts ?? []
      assert.strictEqual(part?.inlineData?.data, PNG.toString("base64"))
      const blocked = yield* promise(() =>
        client.models.generateContent({ model, contents: "a moderated task" })
      )
      assert.strictEqual(blocked.candidates?.[0]?.finishReason, "IMAGE_SAFETY")

      // The SDK creates images of Imagen and videos at the enterprise service only, and warns that Imagen is deprecated.
      const enterprise = new GoogleGenAI({ ...options, vertexai: true })
      const imagen = { model: "imagen-4.0-generate-001", prompt: "a lock", config: { numberOfImages: 2 } }
      const { generatedImages } = yield* promise(() => enterprise.models.generateImages(imagen))
      assert.lengthOf(generatedImages ?? [], 2)
      const started = yield* promise(() =>
        enterprise.models.generateVideos({ model: "veo-3.1-generate-preview", source: { prompt: "a barge" } })
      )
      let operation: GenerateVideosOperation = Object.assign(new GenerateVideosOperation(), started)
      for (let at = 0; at < 3; at++) {
        assert.notStrictEqual(operation.done, true)
        operation = yield* promise(() => client.operations.getVideosOperation({ operation }))
      }
      assert.strictEqual(operation.done, true)
      const [video] = operation.response?.generatedVideos ?? []
      assert.match(video?.video?.uri ?? "", /\/v1beta\/files\/film\w+:download\?alt=media$/)
    }).pipe(Effect.scoped)
  )

  it.live("OpenAI", () =>
    Effect.gen(function* () {
      const { url } = yield* startOpenAiImages
      const client = new OpenAI({ apiKey: "sk-openai-0123456789abc", baseURL: `${url}/v1`, maxRetries: 0 })
      const request = { model: "gpt-image-1", prompt: "a lock", n: 2 } as const
      const { data, usage } = yield* promise(() => client.images.generate(request))
      assert.lengthOf(data ?? [], 2)
      assert.strictEqual(usage?.input_tokens, 9)
      const image = yield* promise(() => toFile(PNG, "lock.png", { type: "image/png" }))
      const edited = yield* promise(() => client.images.edit({ ...request, image: [image, image] }))
      assert.strictEqual(edited.usage?.input_tokens_details.image_tokens, 646)
      const error = yield* promise(() => thrown(client.images.generate({ ...request, size: "7x7" })))
      assert.instanceOf(error, OpenAiBadRequest)
      assert.strictEqual(error.param, "size")
    }).pipe(Effect.scoped)
  )
})
