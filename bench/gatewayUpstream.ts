/** A process that answers every chat alike, as fast as HTTP allows: what stands before it is what is measured. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const answer = JSON.stringify({
  id: "chatcmpl-bench",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "bench-chat",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "The last ferry leaves at nine in the evening." },
      finish_reason: "stop"
    }
  ],
  usage: { prompt_tokens: 24, completion_tokens: 10, total_tokens: 34 }
})

const server = createServer((request, response) => {
  request.resume()
  request.on("end", () => {
    response.setHeader("content-type", "application/json")
    response.end(answer)
  })
})
server.listen(0, "127.0.0.1", () => console.log(`port ${(server.address() as AddressInfo).port}`))
