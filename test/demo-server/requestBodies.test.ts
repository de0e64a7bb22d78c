/** Request bodies that arrive in parts, and bodies that are not UTF-8. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { startPaidServer, chat } from "./PaidServer.ts"
import { sendRaw } from "./Raw.ts"
import { json } from "./Upstream.ts"

const body = Buffer.from(
  JSON.stringify({ ...chat, messages: [{ role: "user", content: "é漢".repeat(3000) }] })
)

/** Split inside a character of two bytes and inside one of three. */
const text = body.indexOf("é漢")
const parts = [body.subarray(0, text + 1), body.subarray(text + 1, text + 5003), body.subarray(text + 5003)]

const start = Effect.gen(function* () {
  const choices = [{ index: 0, message: { role: "assistant", content: "four" } }]
  const { requests, server } = yield* startPaidServer((response) => json(response, { choices }))
  const send = (framing: string, ...parts: ReadonlyArray<Uint8Array>) => {
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\nauthorization: Bearer ${server.secrets.apiKey}\r\n${framing}\r\n\r\n`
    return Effect.map(sendRaw(server.url, head, ...parts), ({ status }) => status)
  }
  return { requests, send }
})

it.live("a body in parts, split inside characters, reaches the upstream whole", () =>
  Effect.gen(function* () {
    const { requests, send } = yield* start
    assert.strictEqual(yield* send(`content-length: ${body.length}`, ...parts), 200)
    assert.strictEqual(requests().at(-1)?.body, body.toString())
  }).pipe(Effect.scoped)
)

it.live("a body in HTTP chunks, split inside characters, reaches the upstream whole", () =>
  Effect.gen(function* () {
    const { requests, send } = yield* start
    const chunks = [...parts, Buffer.alloc(0)].map((part) =>
      Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")])
    )
    assert.strictEqual(yield* send("transfer-encoding: chunked", ...chunks), 200)
    assert.strictEqual(requests().at(-1)?.body, body.toString())
  }).pipe(Effect.scoped)
)

it.live("bytes that are not UTF-8 are replaced", () =>
  Effect.gen(function* () {
    const { requests, send } = yield* start
    const broken = Buffer.from(JSON.stringify(chat).replace("two", "t?o"))
    broken[broken.indexOf("?")] = 0xff
    assert.strictEqual(yield* send(`content-length: ${broken.length}`, broken), 200)
    assert.include(requests().at(-1)?.body, "one t\ufffdo three")
  }).pipe(Effect.scoped)
)
