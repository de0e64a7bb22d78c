/** A worker that responds with prepared bodies, so that only the client is measured. */
import { encodeVector } from "@sluice/core/contract"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { parentPort } from "node:worker_threads"

const COUNT = 20
const vector = Float32Array.from({ length: 1536 }, (_, i) => Math.sin(i) / 40)
const answer = (embedding: unknown) =>
  JSON.stringify({
    data: Array.from({ length: COUNT }, (_, index) => ({ index, embedding })),
    usage: { total_tokens: 9 }
  })

const answers: Readonly<Record<string, string>> = {
  base64: answer(encodeVector(vector)),
  float: answer([...vector]),
  rerank: JSON.stringify({
    results: Array.from({ length: COUNT }, (_, index) => ({ index, relevance_score: 1 / (index + 1) }))
  })
}

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk) => chunks.push(chunk))
  request.on("end", () => {
    response.setHeader("content-type", "application/json")
    response.end(answers[JSON.parse(Buffer.concat(chunks).toString()).model])
  })
})
server.listen(0, "127.0.0.1", () => {
  // A port of worker_threads has no origin, unlike a window.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage((server.address() as AddressInfo).port)
})
