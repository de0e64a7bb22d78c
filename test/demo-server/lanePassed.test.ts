/** What the lane gives to the other way is answered, and told of, as if it had come there at once. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { type Raw, sendRaw } from "./Raw.ts"
import { startServer, temporaryFolder, type TestServer } from "./TestServer.ts"
import { type Answering, json, startUpstream } from "./Upstream.ts"

type Server = TestServer["Service"]

const chat = JSON.stringify({ model: "c", messages: [{ role: "user", content: "one two three" }] })
const answer = { choices: [{ index: 0, message: { role: "assistant", content: "four" } }] }

/** It asks for nothing, and is not usual. */
const OTHER_WAY = "content-encoding: identity\r\n"
const WAYS = ["", OTHER_WAY]

const head = (key: string, more: string) =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n` +
  `authorization: Bearer ${key}\r\ncontent-length: ${chat.length}\r\n${more}\r\n`

/** A server in front of upstreams of one model, which answer as `behaviour` says. */
const start = Effect.fnUntraced(function* (upstreams: number) {
  const behaviour: { now: Answering } = { now: (response) => json(response, answer) }
  const addresses = yield* Effect.forEach(Array.from({ length: upstreams }), () =>
    Effect.map(
      startUpstream((...asked) => behaviour.now(...asked)),
      ({ env }) => env["SLUICE_GATEWAY_URL"]
    )
  )
  const file = join(yield* temporaryFolder, "sluice.config.json")
  const named = addresses.map((url, at) => ({
    id: `upstream-${at}`,
    url,
    apiKey: { env: "UPSTREAM_KEY" },
    models: [{ id: "c", operation: "chat" }]
  }))
  writeFileSync(file, JSON.stringify({ upstreams: named }))
  const server = yield* startServer({
    env: { SLUICE_CONFIG: file, UPSTREAM_KEY: "sk-upstream", SLUICE_LOG_REQUESTS: "true" }
  })
  return { server, behaviour }
})

const ask = ({ secrets, url }: Server, more: string) => sendRaw(url, head(secrets.apiKey, more) + chat)

/** What tells the two ways apart is only what differs from one request to the next. */
const comparable = ({ body, headers, status }: Raw) => {
  const { date: _, "x-request-id": __, ...others } = headers
  return { status, body, headers: others }
}

const fail = (response: ServerResponse) => json(response, { error: { message: "broken" } }, 500)

it.live("a key that is not known is refused before its body is there", () =>
  Effect.gen(function* () {
    const { server } = yield* start(1)
    const [lane, other] = yield* Effect.forEach(WAYS, (more) =>
      Effect.map(Effect.timeout(sendRaw(server.url, head("sk-nobodys", more), "{"), "5 seconds"), comparable)
    )
    assert.strictEqual(other?.status, 401)
    assert.deepStrictEqual(lane, other)
  }).pipe(Effect.scoped)
)

it.live("a call that fails has one id, in its answer and in every line of the log, and all of its time", () =>
  Effect.gen(function* () {
    const { behaviour, server } = yield* start(2)
    behaviour.now = (response) => void setTimeout(() => fail(response), 60)
    for (const more of WAYS) {
      const from = server.printed.length
      const { headers, status } = yield* ask(server, more)
      const id = headers["x-request-id"] ?? "none"
      assert.strictEqual(status, 500)
      const lines = server.printed.slice(from).filter((line) => /request=req_/.test(line))
      assert.lengthOf(lines, 2)
      for (const line of lines) assert.include(line, `request=${id}`)
      // Both upstreams were waited for.
      const [, ms] = /status=500 ms=(\d+)/.exec(lines.join("\n")) ?? []
      assert.isAtLeast(Number(ms), 100)
    }
  }).pipe(Effect.scoped)
)
