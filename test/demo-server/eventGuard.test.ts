/** The guard of an upstream's events: redacted errors, incomplete events, and the end at `[DONE]`. */
import { assert, describe, it } from "@effect/vitest"
import { makeRedact } from "@sluice/core/client"
import { makeEventGuard } from "../../apps/demo-server/src/routing/EventGuard.ts"

const SECRET = "sk-canary-of-an-upstream"
const redact = makeRedact(SECRET)

/** Passes a text through a guard in parts of `size` bytes. */
const through = (text: string, size: number) => {
  const bytes = Buffer.from(text)
  const guard = makeEventGuard(redact)
  const parts: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length; at += size) parts.push(guard.push(bytes.subarray(at, at + size)))
  const passed = Buffer.concat(parts).toString()
  return { passed, text: passed + Buffer.from(guard.end()).toString(), guard }
}

const event = `data: {"choices":[{"delta":{"content":"héé 中文 😀"}}]}\n\n`

describe("the event guard", () => {
  it("does not change events without an error, however they are split", () => {
    // The whole credential is removed elsewhere, so it stays in texts here.
    const stream = `: ping\r\n\r\n${event}data:{"choices":[{"delta":{"content":"${SECRET}"}}]}\n\ndata: [DONE]\n\n`
    for (const size of [1, 2, 3, 7, 64, 4096]) assert.strictEqual(through(stream, size).passed, stream)
  })

  it("removes the credential from errors", () => {
    const error = (key: string) => `data: {"error":{"message":"no such key ${key}, 😀"}}\n\n`
    const stream = `${event}${error(SECRET)}${event}`
    for (const size of [1, 9, 10, 33, 64, 4096]) {
      assert.strictEqual(through(stream, size).passed, `${event}${error("<redacted>")}${event}`)
    }
    const unended = `${event}data: {"error":"bad ${SECRET}"}`
    assert.strictEqual(through(unended, 20).text, `${event}data: {"error":"bad <redacted>"}\n\n`)
    const long = error(`${"a".repeat(100_000)} ${SECRET} ${SECRET}`)
    assert.strictEqual(through(long, 70_000).text, long.replaceAll(SECRET, "<redacted>"))
  })

  it("drops half an event at the end, unless it is too long to hold back", () => {
    for (const size of [1, 5, 4096]) {
      for (const cut of [`data: {"choi`, "data", "data: [DONE", `data: ${"9".repeat(30_000)}e`]) {
        assert.strictEqual(through(event + cut, size).text, event)
      }
    }
    const long = `data: {"image":"${"A".repeat(100_000)}`
    const { guard, text } = through(event + long, 4096)
    assert.strictEqual(text, event + long)
    assert.isTrue(guard.isCut())
    for (const size of [4096, 200_000]) {
      assert.isFalse(through(`${long}"}\n\n${event}`, size).guard.isCut())
      assert.strictEqual(through(`${long}"}\n\n${event}data: {`, size).text, `${long}"}\n\n${event}`)
    }
  })

  it("reports an end inside an event", () => {
    for (const size of [1, 5, 4096]) {
      for (const whole of ["", event, `${event}data: [DONE]`, `${event}data:[DONE]\r\n`, `${event}: ping`]) {
        assert.isFalse(through(whole, size).guard.isCut(), whole)
      }
      for (const cut of [`${event}data: {"choi`, `${event}data`, `${event}data: [DONE`, event.trimEnd()]) {
        assert.isTrue(through(cut, size).guard.isCut(), cut)
      }
    }
  })

  it("drops everything after [DONE]", () => {
    for (const size of [1, 5, 64, 4096]) {
      for (const after of ["", "\n\n", `\r\n\r\n${event}`, `\n\n${event}data: [DONE]\n\n`]) {
        assert.strictEqual(through(`${event}data: [DONE]${after}`, size).text, `${event}data: [DONE]\n\n`)
      }
    }
  })

  it("recognises [DONE] as an event, and not inside a text", () => {
    for (const size of [1, 5, 4096]) {
      assert.isTrue(through(`${event}data: [DONE]\n\n`, size).guard.isDone())
      assert.isTrue(through(`${event}data:[DONE]`, size).guard.isDone())
      assert.isFalse(through(event.replace("héé", "data: [DONE]"), size).guard.isDone())
    }
  })
})
