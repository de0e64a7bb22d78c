/** A gateway on a loopback port that responds like a simple model, or as a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { encodeVector } from "@sluice/core/contract"
import { Context, Effect, Layer } from "effect"

/** The fields of the requests in these tests. */
export interface Body {
  readonly input: ReadonlyArray<string>
  readonly encoding_format?: string
  readonly query: string
  readonly documents: ReadonlyArray<string>
  readonly top_n?: number
  readonly messages: ReadonlyArray<{ readonly content: string }>
}

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: Body
}

/** Replaces the model's responses, until the next call. */
export type Behaviour = (seen: Seen, response: ServerResponse, nth: number) => void

export class LoopbackGateway extends Context.Service<
  LoopbackGateway,
  {
    readonly url: string
    /** Every request since `behave` was last called. */
    readonly seen: Array<Seen>
    readonly behave: (behaviour: Behaviour) => void
    /** The open connections. */
    readonly connections: () => number
  }
>()("test/core/LoopbackGateway") {
  static readonly layer = Layer.effect(
    LoopbackGateway,
    Effect.acquireRelease(
      Effect.callback<LoopbackGateway["Service"] & { readonly close: Effect.Effect<void> }>((resume) => {
        const seen: Array<Seen> = []
        let behaviour: Behaviour = model
        const server = createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk) => chunks.push(chunk))
          request.on("end", () => {
            const text = Buffer.concat(chunks).toString()
            const { headers, method = "", url = "" } = request
            const entry = { method, path: url, headers, body: text === "" ? undefined : JSON.parse(text) }
            seen.push(entry)
            behaviour(entry, response, seen.length - 1)
          })
        })
        const open = new Set<Socket>()
        server.on("connection", (socket) => {
          open.add(socket)
          socket.on("close", () => open.delete(socket))
        })
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo
          resume(
            Effect.succeed({
              url: `http://127.0.0.1:${port}`,
              seen,
              behave: (next) => {
                seen.length = 0
                behaviour = next
              },
              connections: () => open.size,
              close: Effect.callback<void>((closed) => {
                server.close(() => closed(Effect.void))
                server.closeAllConnections()
              })
            })
          )
        })
      }),
      ({ close }) => close
    )
  )
}

export const json = (response: ServerResponse, body: unknown, status = 200, headers = {}): void => {
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "req-7", ...headers })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}

export const events = (response: ServerResponse, list: ReadonlyArray<unknown>): void => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const event of list)
    response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
  response.end()
}

export const delta = (content: string) => ({
  choices: [{ index: 0, delta: { content }, finish_reason: null }]
})

const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]{4,}|\p{Script=Han}/gu) ?? []

/** Counts of hashed words; not normalised, on purpose. */
export const embed = (text: string): Float32Array => {
  const vector = new Float32Array(64)
  for (const word of words(text)) {
    let hash = 7
    for (const c of word) hash = (hash * 31 + (c.codePointAt(0) ?? 0)) % 64
    vector[hash] = (vector[hash] ?? 0) + 2
  }
  vector[0] = (vector[0] ?? 0) + 0.25
  return vector
}

const overlap = (query: string, text: string) => {
  const wanted = new Set(words(query))
  return words(text).filter((word) => wanted.has(word)).length
}

/** The responses of a correct gateway, in the least convenient valid order. */
export const model: Behaviour = ({ body, path }, response) => {
  if (path === "/v1/embeddings") {
    if (body.input.some((text) => text.trim() === "")) {
      return json(response, { error: { message: "input cannot be an empty string", param: "input" } }, 400)
    }
    const data = body.input.map((text, index) => ({
      index,
      embedding: body.encoding_format === "base64" ? encodeVector(embed(text)) : [...embed(text)]
    }))
    return json(response, { data: data.toReversed(), usage: { total_tokens: data.length } })
  }
  if (path === "/v1/rerank") {
    const results = body.documents.map((text, index) => ({
      index,
      relevance_score: overlap(body.query, text) / 10
    }))
    const best = results.toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    return json(response, { results: best.slice(0, body.top_n).toReversed(), usage: { total_tokens: 9 } })
  }
  if (path === "/v1/chat/completions") return answer(body, response)
  json(response, { data: [{ id: "m-1" }] })
}

const answer = (body: Body, response: ServerResponse) => {
  const [listed = "", question = ""] = body.messages[1]?.content.split("\n\nQuestion: ") ?? []
  const found = listed
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const { passage, text }: { passage: number; text: string } = JSON.parse(line)
      return text.split(/(?<=\.) /).map((quote) => ({ passage, quote, score: overlap(question, quote) }))
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)[0]
  const line = found
    ? JSON.stringify({
        text: `Indeed: ${found.quote}`,
        citations: [{ passage: found.passage, quote: found.quote }]
      })
    : "NOT_FOUND"
  const pieces = line.match(/.{1,7}/gsu) ?? []
  events(response, [
    ...pieces.map(delta),
    { choices: [{ delta: {}, finish_reason: "stop" }] },
    { choices: [], usage: { prompt_tokens: 50, completion_tokens: 9 } },
    "[DONE]"
  ])
}

export const vectors =
  (...data: ReadonlyArray<readonly [index: number, embedding: unknown]>): Behaviour =>
  (_, response) =>
    json(response, { data: data.map(([index, embedding]) => ({ index, embedding })) })
export const scores =
  (...results: ReadonlyArray<readonly [index: number, score: unknown]>): Behaviour =>
  (_, response) =>
    json(response, { results: results.map(([index, relevance_score]) => ({ index, relevance_score })) })
export const refuse =
  (status: number, body: unknown, headers = {}): Behaviour =>
  (_, response) =>
    json(response, body, status, headers)
export const openAi = (fields: object) => ({
  error: { message: "no", type: null, param: null, code: null, ...fields }
})

/** Always this JSON. */
export const sends =
  (body: unknown, status = 200): Behaviour =>
  (_, response) =>
    json(response, body, status)

/** Always this text. */
export const sendsText =
  (type: string, text: string, status = 200): Behaviour =>
  (_, response) => {
    response.writeHead(status, { "content-type": type })
    response.end(text)
  }
