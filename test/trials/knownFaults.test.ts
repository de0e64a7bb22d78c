/**
 * Known faults of other gateways, tested on this one: requests of callers. Numbered like the list of faults.
 *
 * The others: 1 and 2, billing, in `ledger` and `charges`; 7, SQL, in `tokens`; 13, addresses, in `proxies`, `subnets` and
 * `accounts`; 18, an unavailable database, in `accountsStores` and `health`; 11, slow callers, in `edge`; upstreams in
 * `knownFaults.upstream`.
 */
import { assert, layer } from "@effect/vitest"
import { ErrorBody, Video } from "@sluice/core/contract"
import { makeDataUri } from "@sluice/core/media"
import { Effect, Schedule, Schema } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import sharp from "sharp"
import { MadeKey, MadeUser } from "../demo-server/AccountCalls.ts"
import { sendRaw } from "../demo-server/Raw.ts"
import { type CallOptions, testServer, TestServer } from "../demo-server/TestServer.ts"

/** Milliseconds, for bodies of tens of megabytes on a busy machine. */
const LARGE = 120_000

const decodeError = Schema.decodeUnknownSync(Schema.fromJsonString(ErrorBody))

const decodeVideo = Schema.decodeUnknownSync(Schema.fromJsonString(Video))

/** Status and error of a response that must be a 4xx in the common error format. */
const refusal = (path: string, options: CallOptions) =>
  Effect.gen(function* () {
    const { call } = yield* TestServer
    const response = yield* call(path, options)
    const text = yield* Effect.promise(() => response.text())
    assert.isBelow(response.status, 500, `${path}: ${text.slice(0, 300)}`)
    assert.isAtLeast(response.status, 400, `${path}: ${text.slice(0, 300)}`)
    return { status: response.status, ...decodeError(text).error, text }
  })

const messages = (url: string) => [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }]

/** The three calls that accept an image. */
const withImage = (image: string): ReadonlyArray<readonly [path: string, json: object]> => [
  ["/v1/chat/completions", { model: "sluice-ocr", messages: messages(image) }],
  ["/v1/images/generations", { model: "sluice-image-i1", prompt: "A lock", image }],
  ["/v1/videos", { model: "sluice-video-from-image", prompt: "A lock", input_reference: image }]
]

const png = Effect.promise(() =>
  sharp({ create: { width: 64, height: 64, channels: 3, background: "#d02020" } })
    .png()
    .toBuffer()
)

/** A PNG chunk with its checksum. */
const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  let crc = 0xffffffff
  for (const byte of body) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE((crc ^ 0xffffffff) >>> 0)
  return Buffer.concat([length, body, sum])
}

const pngOf = (width: number, height: number, bits: ReadonlyArray<number>, bytes: number) => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([...bits, 0, 0, 0], 8)
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1")
  const rows = chunk("IDAT", deflateSync(Buffer.alloc(bytes)))
  return Buffer.concat([signature, chunk("IHDR", header), rows, chunk("IEND", Buffer.alloc(0))])
}

/** Claims a size of 50,000 × 50,000 pixels, 10 GB decoded. */
const hugePng = () => pngOf(50_000, 50_000, [8, 6], 1_000_000)

/** A valid file of 16 KB with one row and column more than the limit. */
const vastPng = () => pngOf(16_385, 8_193, [1, 0], (Math.ceil(16_385 / 8) + 1) * 8_193)

layer(testServer(), { excludeTestServices: true })("known faults of gateways", (it) => {
  it.effect(
    "3: an image URL that leads to a private address is not fetched, in any notation",
    () =>
      Effect.gen(function* () {
        let asked = 0
        const inner = createServer((_, response) => response.end()).on("connection", () => (asked += 1))
        yield* Effect.acquireRelease(
          Effect.callback<void>((resume) => void inner.listen(0, () => resume(Effect.void))),
          () => Effect.sync(() => void inner.close())
        )
        const { port } = inner.address() as AddressInfo
        const hosts = [
          "127.1",
          "0x7f.1",
          "2130706433",
          "0177.0.0.1",
          "[::1]",
          "[::ffff:127.0.0.1]",
          "localhost."
        ]
        const urls = [
          ...hosts.flatMap((host) => [`http://${host}:${port}/a.png`, `http://${host}/a.png`]),
          `http://user:word@127.0.0.1:${port}/a.png`,
          `gopher://127.0.0.1:${port}/a.png`,
          "http://169.254.169.254/latest/meta-data",
          "http://[64:ff9b::a9fe:a9fe]/latest",
          "file:///etc/passwd"
        ]
        for (const [path, json] of urls.flatMap(withImage)) {
          const { message, status } = yield* refusal(path, { json })
          assert.strictEqual(status, 400)
          // The message must not reveal that a connection was tried.
          assert.notMatch(message, /could not be fetched|did not come/)
        }
        assert.strictEqual(asked, 0)
      }).pipe(Effect.scoped),
    LARGE
  )

  it.effect("5: another user's video or image task looks like a missing one", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const ann = yield* json(MadeUser, "/api/user", { as: "token", json: { username: "ann", quota: 1000 } })
      const asAnn = (secret: string) =>
        ({ as: "none", headers: { authorization: `Bearer ${secret}` } }) as const
      const fields = { name: "k", expired_time: -1, remain_quota: 1000, subnet: "" }
      const made = yield* json(MadeKey, "/api/token/", { ...asAnn(ann.data.access_token), json: fields })
      const video = yield* json(Video, "/v1/videos", {
        json: { model: "sluice-video-failing", prompt: "A lock" }
      })
      const image = yield* json(Video, "/v1/images/generations", {
        json: { model: "sluice-image-i5-task", prompt: "A lock", aspect_ratio: "1:1" }
      })
      for (const [family, id, calls] of [
        [
          "/v1/videos",
          video.id,
          [
            ["", "GET"],
            ["/content", "GET"],
            ["", "DELETE"]
          ]
        ],
        ["/v1/images/generations", image.id, [["", "GET"]]]
      ] as const) {
        for (const [rest, method] of calls) {
          const answer = (id: string) =>
            Effect.flatMap(call(`${family}/${id}${rest}`, { ...asAnn(made.data.key), method }), (response) =>
              Effect.promise(async () => [response.status, (await response.text()).replaceAll(id, "ID")])
            )
          const nobodys = id.replaceAll(/[0-9a-f]/g, (digit) => (digit === "0" ? "1" : "0"))
          const foreign = yield* answer(id)
          assert.deepStrictEqual(foreign, yield* answer(nobodys), `${method} ${family}${rest}`)
          assert.strictEqual(foreign[0], 404)
        }
        assert.strictEqual((yield* call(`${family}/${id}`)).status, 200)
      }
    })
  )

  it.effect("6: an id or name with a path finds nothing and reveals nothing", () =>
    Effect.gen(function* () {
      const { call, data } = yield* TestServer
      const ways = [
        "..%2f..%2faccounts.db",
        "%2e%2e%2faccounts.db",
        "..%252f..%252faccounts.db",
        "%252e%252e",
        "a%00b"
      ]
      for (const way of [...ways, "%5c..%5caccounts.db", "a".repeat(10_240)]) {
        for (const path of [
          `/v1/videos/${way}`,
          `/v1/videos/${way}/content`,
          `/v1/images/generations/${way}`,
          `/files/${way}`,
          `/documents/${way}/file`,
          `/${way}`,
          `/assets/${way}`
        ]) {
          const { headers, ...response } = yield* call(path).pipe(
            Effect.flatMap((response) =>
              Effect.promise(async () => ({
                headers: response.headers,
                status: response.status,
                text: await response.text()
              }))
            )
          )
          assert.include([400, 404, 431], response.status, path)
          assert.match(headers.get("content-type") ?? "", /json/, path)
          decodeError(response.text)
          assert.notInclude(response.text, data)
          assert.notInclude(response.text, "SQLite")
        }
      }
      assert.strictEqual((yield* refusal(`/v1/videos/..%2f..%2fx`, { method: "DELETE" })).status, 404)
    })
  )

  it.effect("8: compressed bodies are not decompressed", () =>
    Effect.gen(function* () {
      const bomb = Buffer.alloc(1_000_000, " ")
      for (const [encoding, body] of [
        ["gzip", gzipSync(bomb)],
        ["br", brotliCompressSync(bomb)],
        ["zstd", zstdCompressSync(bomb)],
        ["gzip, gzip", gzipSync(gzipSync(bomb))]
      ] as const) {
        const headers = { "content-type": "application/json", "content-encoding": encoding }
        const { code, status } = yield* refusal("/v1/rerank", { body: body.toString("latin1"), headers })
        assert.deepStrictEqual([status, code], [415, "unsupported_content_encoding"])
      }
    })
  )

  it.effect(
    "8: depth, __proto__, duplicate names, lone surrogates and a million documents cause no failure",
    () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        const deep = (open: string, close: string) => `${open.repeat(40_000)}1${close.repeat(40_000)}`
        const headers = { "content-type": "application/json" }
        const rest: Readonly<Record<string, string>> = {
          "/v1/rerank": `"model":"sluice-lexical-rerank","query":"q","documents":["d"]`,
          "/v1/embeddings": `"model":"sluice-lexical-1024","input":"q"`,
          "/v1/chat/completions": `"model":"sluice-extractive","messages":[{"role":"user","content":"q"}]`,
          "/v1/images/generations": `"model":"sluice-image-i1","prompt":"q","size":"64x64"`,
          "/v1/videos": `"model":"sluice-video-failing","prompt":"q"`
        }
        for (const [path, fields] of Object.entries(rest)) {
          for (const odd of [deep("[", "]"), deep('{"a":', "}")]) {
            const response = yield* call(path, { body: `{${fields},"odd":${odd}}`, headers })
            assert.isBelow(response.status, 500, path)
          }
          for (const odd of [
            `"odd":${"[".repeat(60_000)}${"[1],".repeat(25_000)}`,
            Array.from({ length: 55_000 }, (_, at) => `"${at}":"{"`).join(),
            `"odd":[${"1,".repeat(100_000)}1]`
          ]) {
            const { code, status } = yield* refusal(path, { body: `{${odd},${fields}}`, headers })
            assert.deepStrictEqual([status, code], [400, "too_many_parts"])
          }
          for (const odd of [
            '"__proto__":{"model":1}',
            '"constructor":{"prototype":1}',
            '"odd":"\\ud800"',
            fields
          ]) {
            const response = yield* call(path, { body: `{${odd},${fields}}`, headers })
            assert.isBelow(
              response.status,
              500,
              `${path} ${odd} ${yield* Effect.promise(() => response.text())}`
            )
          }
        }
        const documents = Array.from({ length: 1_000_000 }, () => "d")
        const many = { model: "sluice-lexical-rerank", query: "q", documents }
        const refused = yield* refusal("/v1/rerank", { json: many })
        assert.include([400, 413], refused.status)
        assert.strictEqual(({} as Record<string, unknown>)["model"], undefined)
        assert.strictEqual((yield* call("/healthz")).status, 200)
      }),
    LARGE
  )

  it.effect(
    "9: an invalid, truncated or too large image is rejected by all three endpoints",
    () =>
      Effect.gen(function* () {
        const { call, json } = yield* TestServer
        const endOf = (id: string) =>
          Effect.map(
            Effect.repeat(json(Video, `/v1/videos/${id}`), {
              schedule: Schedule.spaced("20 millis"),
              until: ({ status }) => status === "completed" || status === "failed"
            }),
            ({ status }) => status
          )
        const whole = yield* png
        const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")
        const large = Buffer.concat([whole, Buffer.alloc(20 * 1024 * 1024 + 1 - whole.length)])
        for (const [name, image] of [
          ["a GIF that is called a PNG", makeDataUri("image/png", gif)],
          ["a text that is called a PNG", makeDataUri("image/png", Buffer.from("no image"))],
          ["half of one", makeDataUri("image/png", whole.subarray(0, whole.length / 2))],
          ["its head alone", makeDataUri("image/png", whole.subarray(0, 20))],
          ["20 MB and a byte", makeDataUri("image/png", large)],
          ["50,000 pixels square", makeDataUri("image/png", hugePng())],
          ["16,385 by 8,193 pixels", makeDataUri("image/png", vastPng())],
          ["broken Base64", "data:image/png;base64,@@@@"],
          ["Base64 that is cut", `${makeDataUri("image/png", whole)}=`],
          ["nothing", "data:image/png;base64,"]
        ] as const) {
          for (const [path, body] of withImage(image)) {
            const response = yield* call(path, { json: body })
            const text = yield* Effect.promise(() => response.text())
            if (response.status === 400) decodeError(text)
            // Videos check the image only while they are made.
            else
              assert.strictEqual(yield* endOf(decodeVideo(text).id), "failed", `${name} to ${path}: ${text}`)
          }
        }
      }),
    LARGE
  )

  it.effect(
    "9: an image of 20 MB to the byte is looked at",
    () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        const whole = yield* png
        const largest = Buffer.concat([whole, Buffer.alloc(20 * 1024 * 1024 - whole.length)])
        const json = { model: "sluice-ocr", messages: messages(makeDataUri("image/png", largest)) }
        assert.strictEqual((yield* call("/v1/chat/completions", { json })).status, 200)
      }),
    LARGE
  )

  it.effect(
    "10: forms without a boundary, with a huge one, with thousands of parts or odd names are rejected",
    () =>
      Effect.gen(function* () {
        const { call } = yield* TestServer
        const field = (name: string, value: string) =>
          `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
        const good = field("model", "sluice-video-failing") + field("prompt", "p")
        const forms: ReadonlyArray<readonly [type: string, body: string]> = [
          ["multipart/form-data", `${good}--b--\r\n`],
          ["multipart/form-data; boundary=", `${good}--b--\r\n`],
          [`multipart/form-data; boundary=${"b".repeat(8_000)}`, `${good}--b--\r\n`],
          ["multipart/form-data; boundary=b", good + field("odd", "x").repeat(5_000) + "--b--\r\n"],
          ["multipart/form-data; boundary=b", `${good}--b\r\ncontent-disposition: form-data; name="prompt`],
          ["multipart/form-data; boundary=b", ""]
        ]
        for (const [type, body] of forms) {
          const headers = { "content-type": type }
          assert.strictEqual(
            (yield* refusal("/v1/videos", { body, headers, method: "POST" })).status,
            400,
            type
          )
        }
        const odd = `--b\r\ncontent-disposition: form-data; name="files"; filename="a%0d%0aset-cookie: x=1.md"\r\n\r\n# A\r\n--b--\r\n`
        const uploaded = yield* call("/documents", {
          body: odd,
          headers: { "content-type": "multipart/form-data; boundary=b" }
        })
        assert.isBelow(uploaded.status, 500)
        assert.isNull(uploaded.headers.get("set-cookie"))
      })
  )

  it.effect("11: a request with two lengths or malformed lines is rejected and cannot smuggle another", () =>
    Effect.gen(function* () {
      const { secrets, url } = yield* TestServer
      const hidden = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
      const opening = `POST /v1/rerank HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secrets.apiKey}\r\ncontent-type: application/json\r\n`
      for (const sent of [
        `${opening}content-length: 2\r\ncontent-length: ${hidden.length}\r\n\r\n{}${hidden}`,
        `${opening}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
        `${opening}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
        `${opening}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
        `${opening}content-length: +2\r\n\r\n{}${hidden}`,
        `${opening}transfer-encoding: chunked\r\n\r\nzz\r\n\r\n${hidden}`,
        "GET /healthz HTTP/1.1\nhost: localhost\n\n",
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: a\rb\r\n\r\n"
      ]) {
        const { body, status } = yield* sendRaw(url, sent)
        assert.strictEqual(status, 400, JSON.stringify(sent))
        // One response, and none to the smuggled request.
        decodeError(body)
        assert.notInclude(body, "HTTP/1.1 200")
      }
    })
  )

  it.effect("14: a credential works only for its own endpoints, and a session only for its own origin", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const status = (path: string, options: CallOptions) =>
        Effect.map(call(path, options), (answer) => answer.status)
      assert.strictEqual(yield* status("/api/user/self", { as: "key" }), 401)
      assert.strictEqual(yield* status("/v1/models", { as: "token" }), 401)
      assert.strictEqual(yield* status("/documents", { as: "token" }), 401)
      const headers = { "sec-fetch-site": "same-site" }
      const json = { model: "sluice-lexical-1024", input: "q" }
      assert.include([401, 403], yield* status("/v1/embeddings", { as: "session", headers, json }))
    })
  )
})
