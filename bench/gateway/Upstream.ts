/** A process that answers every chat alike, as fast as HTTP allows: as JSON, or as server-sent events with usage. */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

const usage = { prompt_tokens: 24, completion_tokens: 10, total_tokens: 34 }
const head = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench-chat" }
const words = "The last ferry leaves at nine in the evening.".split(/(?= )/)

const answer = JSON.stringify({
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: words.join("") }, finish_reason: "stop" }],
  usage
})

const event = (data: object) =>
  `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...data })}\n\n`
const events = words.map((content) => event({ choices: [{ index: 0, delta: { content } }] }))
const parts = [
  events.slice(0, 3).join(""),
  events.slice(3, 6).join(""),
  events.slice(6).join(""),
  `${event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}${event({ choices: [], usage })}data: [DONE]\n\n`
]

const stream = (response: ServerResponse, at = 0) => {
  response.write(parts[at])
  if (at + 1 < parts.length) setImmediate(stream, response, at + 1)
  else response.end()
}

const server = createServer((request, response) => {
  let isStream = false
  request.on("data", (chunk: Buffer) => (isStream ||= chunk.includes('"stream":true')))
  request.on("end", () => {
    response.setHeader("content-type", isStream ? "text/event-stream" : "application/json")
    if (isStream) stream(response)
    else response.end(answer)
  })
})
server.listen(0, "127.0.0.1", () => console.log(`port ${(server.address() as AddressInfo).port}`))
