/** Removing the server's credential from an upstream's responses. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import { makeRedactor } from "../../apps/demo-server/src/routing/RedactCredential.ts"
import { startPaidServer, chat, embed, events, piece, post, vectors } from "./PaidServer.ts"

const SECRET = "sk-canary-0123456789abcdef"
const film = { model: "v", prompt: "p" }

describe("a credential that an upstream repeats", () => {
  it.live("is removed from tasks, errors, texts, headers, and streams that split it", () =>
    Effect.gen(function* () {
      const failed = (message: string) => ({ id: "film", status: "failed", error: { message } })
      let answer: unknown
      const { server } = yield* startPaidServer(
        (response, { body }) => {
          if (body.includes('"stream":true')) {
            const text = `data: ${JSON.stringify(piece(`my key is ${SECRET}, 中文`))}\n\ndata: [DONE]\n\n`
            response.writeHead(200, { "content-type": `text/event-stream; of=${SECRET}` })
            const at = text.indexOf("canary") + 3
            response.write(text.slice(0, at))
            void setTimeout(20).then(() => response.end(text.slice(at)))
            return
          }
          response.setHeader("content-type", `application/json; of=${SECRET}`)
          response.end(JSON.stringify(answer))
        },
        { SLUICE_API_KEY: SECRET }
      )
      const answered = (request: Effect.Effect<{ readonly text: string; readonly headers: Headers }>) =>
        Effect.map(request, ({ headers, text }) => {
          assert.notMatch(text + JSON.stringify([...headers]), /canary|0123456789/)
          return text
        })
      const look = (path: string) =>
        Effect.flatMap(server.call(path), (response) =>
          Effect.map(
            Effect.promise(() => response.text()),
            (text) => ({ text, headers: response.headers })
          )
        )
      for (const [path, made] of [
        ["/v1/videos", { id: "film", status: "queued", note: SECRET }],
        ["/v1/images/generations", { id: "picture", note: SECRET }]
      ] as const) {
        answer = made
        yield* answered(post(server, path, film))
        // A truncated message may end inside the credential.
        for (const told of [SECRET, SECRET.slice(0, 15), SECRET.slice(3)]) {
          answer = failed(`no prompt for ${told}`)
          assert.include(yield* answered(look(`${path}/${made.id}`)), "no prompt for <redacted>")
        }
      }
      answer = vectors({ prompt_tokens: 3, note: SECRET })
      yield* answered(post(server, "/v1/embeddings", embed))
      answer = { choices: [{ index: 0, message: { content: `héé ${SECRET}` } }] }
      assert.include(yield* answered(post(server, "/v1/chat/completions", chat)), "héé <redacted>")
      const events = yield* answered(post(server, "/v1/chat/completions", { ...chat, stream: true }))
      assert.include(events, "<redacted>, 中文")
    }).pipe(Effect.scoped)
  )

  it("is removed if only its slashes are escaped", () => {
    const secret = "sk-canary/0123456789/abcdef"
    const redactor = makeRedactor(secret)
    const echo = `{"note":"${secret.replaceAll("/", "\\/")}"}`
    const clean = '{"note":"<redacted>"}'
    assert.strictEqual(redactor.bytes(Buffer.from(echo)).toString(), clean)
    assert.strictEqual(redactor.text(echo), clean)
    const stream = redactor.stream()
    const parts = [stream.push(Buffer.from(echo.slice(0, 20))), stream.push(Buffer.from(echo.slice(20)))]
    assert.strictEqual(Buffer.concat([...parts, stream.end()]).toString(), clean)
  })

  it("is removed if its characters are escaped", () => {
    const redactor = makeRedactor(SECRET)
    const escape = (text: string, slashes: string) =>
      text.replaceAll(/./g, (char) => `${slashes}u00${char.charCodeAt(0).toString(16)}`)
    for (const echo of [
      escape(SECRET, "\\"),
      escape(SECRET, "\\\\").toUpperCase().replaceAll("U00", "u00"),
      SECRET.replaceAll("-", "\\u002d"),
      escape(SECRET.slice(3), "\\")
    ]) {
      const json = `{"note":"é ${echo}, \\u00e9"}`
      const bytes = Buffer.from(json)
      const clean = '{"note":"é <redacted>, \\u00e9"}'
      assert.strictEqual(redactor.bytes(bytes).toString(), clean)
      assert.strictEqual(redactor.text(json), clean)
      for (const size of [1, 7, 100]) {
        const { end, push } = redactor.stream()
        const parts: Array<Uint8Array> = []
        for (let at = 0; at < bytes.length; at += size) parts.push(push(bytes.subarray(at, at + size)))
        assert.strictEqual(Buffer.concat([...parts, end()]).toString(), clean, String(size))
      }
    }
  })

  it("is not removed from results if it is short: it may be an ordinary word", () => {
    for (const secret of ["k", "none", "sk-test", "fifteen-letters"]) {
      const text = Buffer.from(`ask ${secret}: none of sk-test's fifteen-letters`)
      const { bytes, stream } = makeRedactor(secret)
      assert.strictEqual(bytes(text).toString(), text.toString())
      assert.strictEqual(Buffer.from(stream().push(text)).toString(), text.toString())
    }
  })

  it.live("ends a stream whose events have it in pieces", () =>
    Effect.gen(function* () {
      const pieces = (size: number) =>
        Array.from({ length: Math.ceil(SECRET.length / size) }, (_, at) =>
          piece(SECRET.slice(at * size, (at + 1) * size))
        )
      const { server } = yield* startPaidServer(
        (response, { body }) => {
          events(response, piece("my key: "), ...pieces(body.includes("halves") ? 13 : 1))
          response.end("data: [DONE]\n\n")
        },
        { SLUICE_API_KEY: SECRET }
      )
      for (const content of ["halves", "characters"]) {
        const messages = [{ role: "user", content }]
        const { text } = yield* post(server, "/v1/chat/completions", { ...chat, messages, stream: true })
        assert.include(text, '"code":"upstream_credential"')
        assert.notInclude(text, "DONE")
        const joined = [...text.matchAll(/"content":"(.*?)"/g)].map(([, part]) => part).join("")
        assert.notInclude(joined, SECRET.slice(3, 3 + 16))
      }
    }).pipe(Effect.scoped)
  )

  it("is found in pieces that stand among other texts", () => {
    const [first, second] = [SECRET.slice(0, 13), SECRET.slice(13)]
    const of = (index: number, delta: unknown) =>
      Buffer.from(`data: ${JSON.stringify({ choices: [{ delta, index }] })}\n`)
    for (const between of [of(1, { content: "other" }), of(0, { reasoning: "other" })]) {
      const leaks = makeRedactor(SECRET).leak()
      assert.deepStrictEqual(
        [of(0, { content: first }), between, of(0, { content: second })].map((event) => leaks(event)),
        [false, false, true]
      )
    }
    const leaks = makeRedactor(SECRET).leak()
    const two = (one: string, other: string) =>
      Buffer.from(
        JSON.stringify({ choices: [one, other].map((content, index) => ({ index, delta: { content } })) })
      )
    assert.isFalse(leaks(two(first, "a")))
    assert.isTrue(leaks(two(second, "b")))
  })

  it("is removed from bytes split at any position, and nothing else is", () => {
    const text = `s sk- sk-canary 中文 ${SECRET}${SECRET} canary-01234 ${SECRET.slice(0, -1)} canary`
    const clean = text.replaceAll(SECRET, "<redacted>")
    for (const size of [1, 2, 3, 5, 26, 4096]) {
      const { end, push } = makeRedactor(SECRET).stream()
      const bytes = Buffer.from(text)
      const parts: Array<Uint8Array> = []
      for (let at = 0; at < bytes.length; at += size) parts.push(push(bytes.subarray(at, at + size)))
      const passed = Buffer.concat([...parts, end()]).toString()
      // The prefix alone is not held back.
      assert.strictEqual(passed.replaceAll("sk-<redacted>", "<redacted>"), clean, String(size))
    }
  })
})
