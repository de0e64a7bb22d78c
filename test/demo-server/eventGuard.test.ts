/** Events on their way from an upstream, cut anywhere: our credential, an end within an event, and nothing else changed. */
import { assert, describe, it } from "@effect/vitest"
import { makeRedact } from "@sluice/core/client"
import { makeEventGuard } from "../../apps/demo-server/src/routing/EventGuard.ts"

const SECRET = "sk-canary-of-an-upstream"
const conceal = makeRedact(SECRET)

/** What leaves for bytes that come in parts of `size`. */
const through = (text: string, size: number) => {
  const bytes = Buffer.from(text)
  const guard = makeEventGuard(conceal)
  const parts: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length; at += size) parts.push(guard.push(bytes.subarray(at, at + size)))
  const passed = Buffer.concat(parts).toString()
  return { passed, text: passed + Buffer.from(guard.end()).toString(), guard }
}

const said = `data: {"choices":[{"delta":{"content":"héé 中文 😀"}}]}\n\n`

describe("the guard of events", () => {
  it("leaves every byte of what is no error as it came, line by line, however it is cut", () => {
    // The credential in a text is the caller's own matter: nobody's error told it.
    const stream = `: ping\r\n\r\n${said}data:{"choices":[{"delta":{"content":"${SECRET}"}}]}\n\ndata: [DONE]\n\n`
    for (const size of [1, 2, 3, 7, 64, 4096]) assert.strictEqual(through(stream, size).passed, stream)
  })

  it("takes the credential out of an error, which waits for its end; what follows passes", () => {
    const error = (told: string) => `data: {"error":{"message":"no such key ${told}, 😀"}}\n\n`
    const stream = `${said}${error(SECRET)}${said}`
    for (const size of [1, 9, 10, 33, 64, 4096]) {
      assert.strictEqual(through(stream, size).passed, `${said}${error("<redacted>")}${said}`)
    }
    const unended = `${said}data: {"error":"bad ${SECRET}"}`
    assert.strictEqual(through(unended, 20).text, `${said}data: {"error":"bad <redacted>"}\n\n`)
    const long = error(`${"a".repeat(100_000)} ${SECRET} ${SECRET}`)
    assert.strictEqual(through(long, 70_000).text, long.replaceAll(SECRET, "<redacted>"))
  })

  it("passes on no half event, unless it is longer than what is waited for", () => {
    for (const size of [1, 5, 4096]) {
      for (const cut of [`data: {"choi`, "data", "data: [DONE", `data: ${"9".repeat(30_000)}e`]) {
        assert.strictEqual(through(said + cut, size).text, said)
      }
    }
    const long = `data: {"image":"${"A".repeat(100_000)}`
    const { guard, text } = through(said + long, 4096)
    assert.strictEqual(text, said + long)
    assert.isTrue(guard.isCut())
    for (const size of [4096, 200_000]) {
      assert.isFalse(through(`${long}"}\n\n${said}`, size).guard.isCut())
      assert.strictEqual(through(`${long}"}\n\n${said}data: {`, size).text, `${long}"}\n\n${said}`)
    }
  })

  it("tells an end within an event from one behind it", () => {
    for (const size of [1, 5, 4096]) {
      for (const whole of ["", said, `${said}data: [DONE]`, `${said}data:[DONE]\r\n`, `${said}: ping`]) {
        assert.isFalse(through(whole, size).guard.isCut(), whole)
      }
      for (const cut of [`${said}data: {"choi`, `${said}data`, `${said}data: [DONE`, said.trimEnd()]) {
        assert.isTrue(through(cut, size).guard.isCut(), cut)
      }
    }
  })

  it("passes on nothing that comes after the end of the answer, however it is cut", () => {
    for (const size of [1, 5, 64, 4096]) {
      for (const after of ["", "\n\n", `\r\n\r\n${said}`, `\n\n${said}data: [DONE]\n\n`]) {
        assert.strictEqual(through(`${said}data: [DONE]${after}`, size).text, `${said}data: [DONE]\n\n`)
      }
    }
  })

  it("knows the end of the answer, and not a text that speaks of it", () => {
    for (const size of [1, 5, 4096]) {
      assert.isTrue(through(`${said}data: [DONE]\n\n`, size).guard.isDone())
      assert.isTrue(through(`${said}data:[DONE]`, size).guard.isDone())
      assert.isFalse(through(said.replace("héé", "data: [DONE]"), size).guard.isDone())
    }
  })
})
