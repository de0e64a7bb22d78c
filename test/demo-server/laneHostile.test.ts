/** What upstreams do to the lane that no usual one does, compared with the other way. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { sendRaw } from "./Raw.ts"
import { before } from "./PaidServer.ts"

const chat = JSON.stringify({ model: "c", messages: [{ role: "user", content: "one two three" }] })
const answer = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "four" } }] })

const head = (key: string, more: string) =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n` +
  `authorization: Bearer ${key}\r\ncontent-length: ${chat.length}\r\n${more}\r\n`

it.live("an upstream that says twice what it sends is passed on as one header", () =>
  Effect.gen(function* () {
    const { server } = yield* before((response) =>
      response.writeHead(200, ["content-type", "application/json", "content-type", "text/html"]).end(answer)
    )
    // The second asks for nothing that the first does not, and takes the other way.
    for (const more of ["", "content-encoding: identity\r\n"]) {
      const { headers, status } = yield* sendRaw(server.url, head(server.secrets.apiKey, more) + chat)
      assert.strictEqual(status, 200)
      // Of two headers the last one would be here.
      assert.strictEqual(headers["content-type"], "application/json, text/html")
    }
  }).pipe(Effect.scoped)
)
