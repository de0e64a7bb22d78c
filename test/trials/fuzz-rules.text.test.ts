/** The interface's rules for chat, embeddings, rerank and keys. */
import { assert, layer } from "@effect/vitest"
import { ChatResponse, TokenResponse, Video, MAX_IMAGE_BYTES } from "@sluice/core/contract"
import { makeDataUri } from "@sluice/core/media"
import { Effect, Schema } from "effect"
import { crc32 } from "node:zlib"
import { testServer, TestServer } from "../demo-server/TestServer.ts"
import { GIF, JPEG, png, RED, WEBP } from "../laws/Pictures.ts"
import { type Body, checkRules, type Rule } from "../fuzz/Rule.ts"

const picture = makeDataUri("image/png", png(RED))

const text = (text: unknown) => ({ type: "text", text })
const image = (url: unknown, detail?: unknown) => ({
  type: "image_url",
  image_url: { url, ...(detail !== undefined && { detail }) }
})
const user = (content: unknown): Body => ({ messages: [{ role: "user", content }] })
const seeing = (...parts: ReadonlyArray<unknown>): Body => ({
  model: "sluice-ocr",
  ...user([text("What does it say?"), ...parts])
})

/** A PNG of this many bytes, padded with an ancillary chunk. */
const pngOf = (bytes: number): Uint8Array => {
  const small = png(RED)
  const filling = Buffer.alloc(bytes - small.length - 12 + 4, 32)
  filling.write("fiLl")
  const chunk = Buffer.concat([Buffer.alloc(4), filling, Buffer.alloc(4)])
  chunk.writeUInt32BE(filling.length - 4, 0)
  chunk.writeUInt32BE(crc32(filling), chunk.length - 4)
  // The chunk comes after the signature and the header.
  return Buffer.concat([small.subarray(0, 33), chunk, small.subarray(33)])
}

const chat: ReadonlyArray<Rule> = [
  {
    rule: "content is a text or a list of parts; null is a field that is not given",
    takes: [
      user("When?"),
      user([text("When?")]),
      { ...user("max_completion_tokens?"), max_completion_tokens: null },
      { ...user("When?"), max_tokens: null, temperature: null, stream: null, stream_options: null },
      { ...user("When?"), stream_options: { include_usage: null }, stream: false },
      {
        messages: [
          { role: "system", content: "At nine." },
          { role: "assistant", content: "?" },
          { role: "user", content: "When?" }
        ]
      }
    ],
    refuses: [
      ["messages", { messages: undefined }],
      ["messages", { messages: [] }],
      ["messages", { messages: "When?" }],
      ["messages.0.content", user(null)],
      ["messages.0.content", user(7)],
      ["messages.0.content.0.text", user([text(null)])],
      ["messages.0.content.0", user([{ type: "video_url", video_url: { url: picture } }])],
      ["messages.0.role", { messages: [{ role: "nobody", content: "When?" }] }],
      ["model", { ...user("When?"), model: null }],
      ["model", { ...user("When?"), model: "sluice-image-i1" }]
    ]
  },
  {
    rule: "max_tokens is a whole number from 1, temperature 0 to 2",
    takes: [1, 1_000_000].map((max_tokens) => ({ ...user("When?"), max_tokens })),
    refuses: [
      ...[0, -1, 1.5, "5", 1e300].map(
        (max_tokens) => ["max_tokens", { ...user("When?"), max_tokens }] as const
      ),
      ...[0, -1, 1.5, "5"].map(
        (limit) => ["max_completion_tokens", { ...user("When?"), max_completion_tokens: limit }] as const
      ),
      ...[-0.1, 2.1, "1"].map((temperature) => ["temperature", { ...user("When?"), temperature }] as const)
    ]
  },
  {
    rule: "images: PNG, JPEG and WEBP, several in one message; detail low, high or auto",
    takes: [
      seeing(
        image(picture, "low"),
        image(makeDataUri("image/jpeg", JPEG), "high"),
        image(makeDataUri("image/webp", WEBP), "auto"),
        image(picture, null)
      )
    ],
    refuses: [
      ["messages.0.content.1.image_url.detail", seeing(image(picture, "medium"))],
      ["messages.0.content.1.image_url.url", seeing(image(null))],
      ["messages.0.content.1.image_url", seeing({ type: "image_url", image_url: picture })]
    ]
  },
  {
    rule: "images: GIF is refused under whichever name, and so is what is none",
    refuses: [
      ["messages.0.content.1.image_url.url", seeing(image(makeDataUri("image/gif" as "image/png", GIF)))],
      ["messages", seeing(image(makeDataUri("image/png", GIF)))],
      ["messages", seeing(image("data:image/png;base64,aGVsbG8="))],
      ["messages.0.content.1.image_url.url", seeing(image("/etc/passwd"))],
      ["messages.0.content.1.image_url.url", seeing(image("file:///etc/passwd"))],
      ["messages", seeing(image("http://127.0.0.1/a.png"))],
      ["messages", { ...seeing(image(picture)), model: "sluice-extractive" }]
    ]
  },
  {
    rule: "images: 20 MB at most, one by one",
    takes: [seeing(image(makeDataUri("image/png", pngOf(MAX_IMAGE_BYTES))))],
    refuses: [
      [
        "messages.0.content.1.image_url.url",
        seeing(image(makeDataUri("image/png", pngOf(MAX_IMAGE_BYTES + 1))))
      ]
    ]
  }
]

const embeddings: ReadonlyArray<Rule> = [
  {
    rule: "input is a text or texts; encoding_format float or base64; null is a field that is not given",
    takes: [
      ...["a", "", ["a"], ["a", "", "水"]].map((input) => ({ input })),
      ...["float", "base64", null].map((encoding_format) => ({ input: "a", encoding_format })),
      { input: "a", dimensions: null, user: null }
    ],
    refuses: [
      ...[undefined, null, 7, {}, []].map((input) => ["input", { input }] as const),
      ...[[null], [1, 2], [["a"]]].map((input) => ["input.0", { input }] as const),
      ...["int8", 7].map((encoding_format) => ["encoding_format", { input: "a", encoding_format }] as const),
      ["input", { input: Array.from({ length: 2049 }, () => "a") }],
      ["input", { input: "a ".repeat(2_100_000) }],
      ["model", { input: "a", model: "" }]
    ]
  }
]

const rerank: ReadonlyArray<Rule> = [
  {
    rule: "top_n and return_documents may be given, or null; documents are texts or objects with one",
    takes: [
      {},
      { top_n: null, return_documents: null, max_chunks_per_doc: null },
      ...[0, 1, 100].map((top_n) => ({ top_n })),
      ...[true, false].map((return_documents) => ({ return_documents })),
      { documents: [{ text: "a" }, "b"] }
    ],
    refuses: [
      ...[-1, 1.5, "2"].map((top_n) => ["top_n", { top_n }] as const),
      ["return_documents", { return_documents: "yes" }],
      ...[undefined, null, [], "a"].map((documents) => ["documents", { documents }] as const),
      ["documents.0", { documents: [7] }],
      ["documents", { documents: Array.from({ length: 1001 }, () => "a") }],
      ["documents", { documents: ["a ".repeat(2_100_000)] }],
      ...[undefined, null, "", 7].map((query) => ["query", { query }] as const)
    ]
  }
]

const tokens: ReadonlyArray<Rule> = [
  {
    rule: "a key has a name, an expiry, a quota and networks",
    takes: [
      {},
      { subnet: null },
      { subnet: "" },
      { subnet: "10.0.0.0/8, 2001:db8::/32" },
      { expired_time: 4_000_000_000 },
      { remain_quota: 0 }
    ],
    refuses: [
      ...[undefined, null, "", 7, "x".repeat(101), "a\nb"].map((name) => ["name", { name }] as const),
      ...[undefined, null, "never", 1, -2, 1e300].map(
        (expired_time) => ["expired_time", { expired_time }] as const
      ),
      ...[undefined, null, -1, 1.5, "1", 1e300].map(
        (remain_quota) => ["remain_quota", { remain_quota }] as const
      ),
      ...["anywhere", "10.0.0.0/33", "::/129", 7].map((subnet) => ["subnet", { subnet }] as const)
    ]
  }
]

layer(testServer(), { excludeTestServices: true })("chat, embeddings and rerank", (it) => {
  checkRules(it, chat, { path: "/v1/chat/completions", base: { model: "sluice-extractive" } })
  checkRules(it, embeddings, { path: "/v1/embeddings", base: { model: "sluice-lexical-1024" } })
  for (const path of ["/v1/rerank", "/v2/rerank"]) {
    const base = { model: "sluice-lexical-rerank", query: "a", documents: ["a", "b"] }
    checkRules(
      it,
      rerank.map(({ rule, ...rest }) => ({ rule: `${path}: ${rule}`, ...rest })),
      { path, base }
    )
  }

  it.effect("counts 85 tokens for an image with detail low", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const cost = (body: Body) =>
        Effect.map(
          json(ChatResponse, "/v1/chat/completions", { json: { model: "sluice-ocr", ...body } }),
          ({ usage }) => usage?.prompt_tokens ?? 0
        )
      const bare = yield* cost(user([text("What does it say?")]))
      assert.strictEqual(yield* cost(seeing(image(picture, "low"))), bare + 85)
      assert.strictEqual(yield* cost(seeing(image(picture, "low"), image(picture, "low"))), bare + 170)
    })
  )
})

layer(testServer(), { excludeTestServices: true })("keys", (it) => {
  const options = { as: "token" as const }
  const base = { name: "a", expired_time: -1, remain_quota: 500_000 }
  checkRules(it, tokens, { path: "/api/token/", base, options })

  it.effect("PUT changes only the given fields and treats null as not given", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const made = yield* json(TokenResponse, "/api/token/", { ...options, json: base })
      const id = "data" in made ? made.data.id : 0
      const put = (body: Body) => call("/api/token/", { ...options, method: "PUT", json: { id, ...body } })
      const nulls = { name: null, expired_time: null, remain_quota: null, status: null, subnet: null }
      for (const body of [{ status: 0 }, nulls, { remain_quota: 7 }, {}]) {
        assert.strictEqual((yield* put(body)).status, 200)
      }
      const found = yield* Effect.flatMap(call(`/api/token/${id}`, options), (response) =>
        Effect.promise(() => response.json() as Promise<unknown>)
      )
      const { data } = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Json }))(found)
      assert.deepInclude(data, { id, name: "a", status: 0, remain_quota: 7, expired_time: -1, subnet: "" })
      for (const body of [
        { status: 2 },
        { status: "1" },
        { remain_quota: -1 },
        { name: "" },
        { id: "x" },
        { more: 1 }
      ]) {
        assert.strictEqual((yield* put(body)).status, 400)
      }
    })
  )

  it.effect("keeps the largest quota when a call is refunded", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const film = { model: "sluice-video-v-a", prompt: "A barge" }
      const { id } = yield* json(Video, "/v1/videos", { json: film })
      const change = { id: 1, remain_quota: Number.MAX_SAFE_INTEGER }
      assert.strictEqual(
        (yield* call("/api/token/", { ...options, method: "PUT", json: change })).status,
        200
      )
      yield* call(`/v1/videos/${id}`, { method: "DELETE" })
      const told = yield* json(TokenResponse, "/api/token/1", options)
      assert.strictEqual("data" in told ? told.data.remain_quota : 0, Number.MAX_SAFE_INTEGER)
      assert.strictEqual((yield* call("/v1/models")).status, 200)
    })
  )
})
