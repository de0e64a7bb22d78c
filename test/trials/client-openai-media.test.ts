/** The `openai` package, unchanged, against the server: images and videos. */
import { assert, layer } from "@effect/vitest"
import { imageFormatOf, makeDataUri } from "@sluice/core/media"
import OpenAI, { BadRequestError, NotFoundError, toFile } from "openai"
import { setTimeout } from "node:timers/promises"
import sharp from "sharp"
import { testServer } from "../demo-server/TestServer.ts"
import { png, RED } from "../laws/Pictures.ts"
import { type Target, thrown, using } from "../clients/Clients.ts"

const call = using(({ apiKey, url }: Target) => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }))

const prompt = "A barge in a lock"
const sizeOf = async (bytes: Uint8Array) => {
  const { height, width } = await sharp(bytes).metadata()
  return [width, height]
}
const bytesOf = (base64: string | undefined) => new Uint8Array(Buffer.from(base64 ?? "", "base64"))

const ended = async (client: OpenAI, id: string): Promise<OpenAI.Video> => {
  for (;;) {
    const video = await client.videos.retrieve(id)
    if (video.status === "completed" || video.status === "failed") return video
    await setTimeout(50)
  }
}

layer(testServer(), { excludeTestServices: true })("openai", (it) => {
  it.effect("images: returns links to n images of the requested size", () =>
    call(async (client) => {
      const { created, data = [] } = await client.images.generate({
        model: "sluice-image-i1",
        prompt,
        n: 2,
        size: "256x256"
      })
      assert.isAbove(created, 0)
      assert.lengthOf(data, 2)
      for (const { url } of data) {
        const image = await fetch(url ?? "")
        assert.strictEqual(image.status, 200)
        assert.deepStrictEqual(await sizeOf(new Uint8Array(await image.arrayBuffer())), [256, 256])
      }
    })
  )

  it.effect("images: returns Base64 in the requested format and rejects unsupported fields", () =>
    call(async (client) => {
      const { data = [] } = await client.images.generate({
        model: "sluice-image-i1",
        prompt,
        size: "256x256",
        response_format: "b64_json",
        output_format: "webp",
        quality: "low",
        moderation: "low"
      })
      const bytes = bytesOf(data[0]?.b64_json)
      assert.strictEqual(imageFormatOf(bytes), "webp")
      assert.deepStrictEqual(await sizeOf(bytes), [256, 256])
      for (const [param, value] of [
        ["n", 11],
        ["output_format", "gif"],
        ["size", "huge"]
      ] as const) {
        const body = { model: "sluice-image-i1", prompt, [param]: value }
        const error = await thrown(client.images.generate(body as OpenAI.ImageGenerateParams))
        assert.instanceOf(error, BadRequestError)
        assert.strictEqual(error.param, param)
      }
    })
  )

  it.effect("images: keeps the aspect ratio of the input image", () =>
    call(async (client) => {
      const wide = await sharp(png(RED)).resize(64, 32, { fit: "fill" }).png().toBuffer()
      const body = {
        model: "sluice-image-i3",
        prompt,
        image: makeDataUri("image/png", wide),
        watermark: false
      }
      const { data = [] } = await client.images.generate({ ...body, response_format: "b64_json" })
      assert.deepStrictEqual(await sizeOf(bytesOf(data[0]?.b64_json)), [1024, 512])
    })
  )

  it.effect("images: polls a two-step creation with the client's get", () =>
    call(async (client) => {
      const body = { model: "sluice-image-i5-task", prompt, size: "256x256" as const }
      const first = await client.images.generate(body)
      assert.property(first, "id")
      const { id } = first as unknown as { readonly id: string }
      const poll = () =>
        client.get<{ status: string; data?: ReadonlyArray<{ url: string }> }>(`/images/generations/${id}`)
      let task = await poll()
      while (task.status === "in_progress") {
        await setTimeout(50)
        task = await poll()
      }
      assert.strictEqual(task.status, "completed")
      assert.strictEqual((await fetch(task.data?.[0]?.url ?? "")).headers.get("content-type"), "image/png")
    })
  )

  it.effect("images: answers 404 for a path outside the interface", () =>
    call(async (client) => {
      const image = await toFile(png(RED), "red.png", { type: "image/png" })
      const error = await thrown(client.images.edit({ model: "sluice-image-i3", prompt, image }))
      assert.instanceOf(error, NotFoundError)
      assert.strictEqual(error.code, "route_not_found")
    })
  )

  it.effect("videos: accepts every field of the client's type", () =>
    call(async (client) => {
      const asked = { model: "sluice-video-v-a", prompt, seconds: "4", size: "720x1280" } as const
      const created = await client.videos.create(asked)
      const fixed = { object: "video", status: "queued", progress: 0, remixed_from_video_id: null }
      assert.deepInclude<object>(created, { ...asked, ...fixed, completed_at: null })
      assert.notProperty(created, "error")
      const early = await thrown(client.videos.downloadContent(created.id))
      assert.instanceOf(early, BadRequestError)
      assert.strictEqual(early.code, "video_not_ready")
      assert.deepStrictEqual(
        { ...(await client.videos.delete(created.id)) },
        { id: created.id, object: "video.deleted", deleted: true }
      )
      assert.instanceOf(await thrown(client.videos.retrieve(created.id)), NotFoundError)
    })
  )

  it.effect(
    "videos: polled until it is made, and downloaded",
    () =>
      call(async (client) => {
        // A model with small, short videos.
        const { id } = await client.videos.create({
          model: "sluice-video-from-image",
          prompt,
          seconds: "1" as OpenAI.VideoSeconds,
          size: "160x90" as OpenAI.VideoSize,
          input_reference: { image_url: makeDataUri("image/png", png(RED)) }
        })
        const video = await ended(client, id)
        assert.deepInclude(video, { status: "completed", progress: 100, model: "sluice-video-from-image" })
        assert.isAtLeast(video.completed_at ?? 0, video.created_at)
        assert.isAbove(video.expires_at ?? 0, video.created_at)
        const content = await client.videos.downloadContent(id)
        assert.strictEqual(content.headers.get("content-type"), "video/mp4")
        const film = Buffer.from(await content.arrayBuffer())
        assert.strictEqual(film.toString("latin1", 4, 8), "ftyp")
      }),
    120_000
  )

  it.effect("videos: takes an image as a file and as a data URI, and reports why a task failed", () =>
    call(async (client) => {
      const references = [
        await toFile(png(RED), "red.png", { type: "image/png" }),
        { image_url: makeDataUri("image/png", png(RED)) }
      ]
      for (const input_reference of references) {
        const video = await client.videos.create({
          model: "sluice-video-from-image",
          prompt,
          input_reference
        })
        assert.strictEqual(video.status, "in_progress")
        await client.videos.delete(video.id)
      }
      const { id } = await client.videos.create({ model: "sluice-video-failing", prompt })
      const failed = await ended(client, id)
      assert.strictEqual(failed.status, "failed")
      assert.isNotEmpty(failed.error?.code)
      assert.isNotEmpty(failed.error?.message)
      assert.instanceOf(await thrown(client.videos.downloadContent(id)), BadRequestError)
    })
  )

  it.effect("videos: rejects unsupported fields and unknown ids", () =>
    call(async (client) => {
      const error = await thrown(
        client.videos.create({ model: "sluice-video-v-a", prompt, seconds: "5" as "4" })
      )
      assert.instanceOf(error, BadRequestError)
      assert.strictEqual(error.param, "seconds")
      for (const id of ["video_none", "../models", "..%2fmodels", "x".repeat(600)]) {
        const missing = await thrown(client.videos.retrieve(id))
        assert.isTrue(missing instanceof NotFoundError || missing instanceof BadRequestError, id)
      }
    })
  )
})
