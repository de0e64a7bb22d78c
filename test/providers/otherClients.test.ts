/**
 * Clients of other makers decode the fakes of vendors that have none of their own for JavaScript, and the videos that Google's
 * own makes at its enterprise service only.
 */
import { createAlibaba } from "@ai-sdk/alibaba"
import { createGoogleGenerativeAI } from "@ai-sdk/google"
import { assert, describe, it } from "@effect/vitest"
import { InferenceClient } from "@huggingface/inference"
import { embedMany, experimental_generateVideo, generateText } from "ai"
import { Effect } from "effect"
import { createJina } from "jina-ai-provider"
import { dashscopeFake } from "./fakes/dashscope.ts"
import { startDashScopeMedia } from "./fakes/dashscopeMedia.ts"
import { startGoogleMedia } from "./fakes/googleMedia.ts"
import { jinaFake } from "./fakes/jina.ts"
import { MP4 } from "./fakes/MediaVendor.ts"
import { teiFake } from "./fakes/tei.ts"
import { vectorAt } from "./fakes/Texts.ts"
import { startVendor, VENDOR_KEY } from "./VendorServer.ts"

const promise = <A>(run: () => Promise<A>) => Effect.promise(run)
/** Where the vendor's client finds the film. It downloads from no loopback address by itself. */
const filmAddress = (model: Parameters<typeof experimental_generateVideo>[0]["model"]) =>
  promise(async () => {
    let address = ""
    const download = async ({ url }: { readonly url: URL }) => {
      address = url.href
      return { data: new Uint8Array(MP4), mediaType: "video/mp4" }
    }
    await experimental_generateVideo({
      model,
      prompt: "a barge",
      duration: 5,
      download,
      poll: { intervalMs: 1 },
      maxRetries: 0
    })
    return address
  })
const TEXTS = ["the lock", "the weir"]

describe("a client of another maker decodes the fake", () => {
  it.live("DashScope: chat, and a video of Wan", () =>
    Effect.gen(function* () {
      const texts = yield* startVendor(dashscopeFake)
      const chat = createAlibaba({ baseURL: `${texts.url}/compatible-mode/v1`, apiKey: VENDOR_KEY })
      const { text } = yield* promise(() =>
        generateText({ model: chat("qwen-plus"), prompt: "Where is the lock?" })
      )
      assert.isNotEmpty(text)
      const { files, url } = yield* startDashScopeMedia
      const media = createAlibaba({ videoBaseURL: url, apiKey: "sk-dashscope-0123456789" })
      assert.match(
        yield* filmAddress(media.video("wan2.6-t2v")),
        new RegExp(`^${files}/[\\w-]+\\.mp4\\?Expires=1$`)
      )
    }).pipe(Effect.scoped)
  )

  it.live("Google: a video of Veo", () =>
    Effect.gen(function* () {
      const { url } = yield* startGoogleMedia
      const google = createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: "AIza-0123456789abcdef" })
      assert.match(
        yield* filmAddress(google.video("veo-3.1-generate-preview")),
        /\/v1beta\/files\/film\w+:download\?alt=media/
      )
    }).pipe(Effect.scoped)
  )

  it.live("Jina AI: embeddings", () =>
    Effect.gen(function* () {
      const { url } = yield* startVendor(jinaFake)
      const jina = createJina({ baseURL: `${url}/v1`, apiKey: VENDOR_KEY })
      const { embeddings, usage } = yield* promise(() =>
        embedMany({ model: jina.textEmbeddingModel("jina-embeddings-v3"), values: TEXTS })
      )
      assert.deepStrictEqual(embeddings, [vectorAt(0), vectorAt(1)])
      assert.strictEqual(usage.tokens, 4)
    }).pipe(Effect.scoped)
  )

  it.live("Text Embeddings Inference: embeddings", () =>
    Effect.gen(function* () {
      const { url } = yield* startVendor(teiFake)
      const vectors = yield* promise(() =>
        new InferenceClient().featureExtraction({
          endpointUrl: `${url}/embed`,
          inputs: TEXTS,
          truncate: true
        })
      )
      assert.deepStrictEqual(vectors, [vectorAt(0), vectorAt(1)])
    }).pipe(Effect.scoped)
  )
})
