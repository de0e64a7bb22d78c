/**
 * The gateway of all contenders: embeddings (float and base64) and rerank, with deterministic vectors. `GET /use` returns
 * the calls since the last `GET /use`, and the time spent in them.
 */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { vectorOf, wordsOf } from "../corpus/HashedVectors.ts"

const embeddings = (body: { input: string | ReadonlyArray<string>; encoding_format?: string }) => {
  const texts = typeof body.input === "string" ? [body.input] : body.input
  const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0)
  const data = texts.map((text, index) => {
    const vector = vectorOf(text)
    const embedding =
      body.encoding_format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector]
    return { object: "embedding", index, embedding }
  })
  use.embeddingCalls++
  use.texts += texts.length
  return {
    object: "list",
    model: "peers",
    data,
    usage: { prompt_tokens: tokens, total_tokens: tokens }
  }
}

const rerank = (body: {
  query: string
  documents: ReadonlyArray<string | { text: string }>
  top_n?: number
}) => {
  const query = new Set(wordsOf(body.query).filter((word) => word.length > 3))
  const results = body.documents.map((document, index) => {
    const words = new Set(wordsOf(typeof document === "string" ? document : document.text))
    const shared = [...query].filter((word) => words.has(word)).length
    return { index, relevance_score: shared / Math.max(1, query.size) }
  })
  use.rerankCalls++
  return {
    id: "rerank",
    model: "peers",
    results: results
      .toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
      .slice(0, body.top_n ?? results.length),
    meta: {}
  }
}

const nothing = { embeddingCalls: 0, rerankCalls: 0, texts: 0, milliseconds: 0 }
let use = { ...nothing }
export type Use = typeof nothing

const bodyOf = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString())
}

const server = createServer(async (request, response) => {
  const start = performance.now()
  response.setHeader("content-type", "application/json")
  if (request.url === "/use") {
    response.end(JSON.stringify(use))
    use = { ...nothing }
    return
  }
  // From the request's headers to the last byte of the response.
  response.on("finish", () => (use.milliseconds += performance.now() - start))
  const body = await bodyOf(request)
  response.end(JSON.stringify(request.url?.endsWith("/embeddings") ? embeddings(body) : rerank(body)))
})
server.keepAliveTimeout = 600_000
server.listen(0, "127.0.0.1", () => console.log(`port ${(server.address() as AddressInfo).port}`))
