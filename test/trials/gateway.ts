/** A gateway that misbehaves in every observed way: the client returns the right vectors or a typed error. */
import { apiKey, Gateway, type GatewayError, type GatewayReason } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Effect, Result } from "effect"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { text as bodyOf } from "node:stream/consumers"
import type { Random } from "../../bench/corpus/Random.ts"
import { must, type Trial } from "./Trial.ts"

const DIMENSION = 8

/** A vector that identifies its text. */
const vectorOf = (text: string): Float32Array =>
  Float32Array.from({ length: DIMENSION }, (_, at) => (at === 0 ? 1 : Number(text.slice(1)) / (at + 1)))

const data = (texts: ReadonlyArray<string>, base64: boolean) =>
  texts.map((text, index) => {
    const vector = vectorOf(text)
    const embedding = base64 ? Buffer.from(vector.buffer).toString("base64") : [...vector]
    return { object: "embedding", index, embedding }
  })

const answer = (response: ServerResponse, status: number, body: unknown, headers = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}
const failure = (message: string) => ({ error: { message, type: "error", param: null, code: null } })

/** Answers one request, correctly or not. */
const misbehave = (
  random: Random,
  texts: ReadonlyArray<string>,
  base64: boolean,
  response: ServerResponse
): void => {
  const good = data(texts, base64)
  const wrap = (list: unknown) => ({
    object: "list",
    model: "m",
    data: list,
    usage: { prompt_tokens: 1, total_tokens: 1 }
  })
  const roll = random.between(0, 21)
  switch (roll) {
    case 0:
      return answer(response, 429, failure("slow down"), { "retry-after-ms": String(random.between(0, 20)) })
    case 1:
      return answer(response, 500, failure("no"))
    case 2:
      return answer(response, 503, "<html>bad gateway</html>", { "content-type": "text/html" })
    case 3:
      return void response.destroy()
    case 4: {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100000" })
      response.write('{"object":"list","data":[')
      setImmediate(() => response.destroy())
      return
    }
    case 5:
      return answer(response, 200, "not json at all")
    case 6:
      return answer(response, 200, wrap(good.slice(1)))
    case 7:
      return answer(response, 200, wrap([...good, ...good.slice(0, 1)]))
    case 8:
      return answer(response, 200, wrap(good.map((one) => ({ ...one, index: 0 }))))
    case 9:
      return answer(response, 200, wrap(good.map((one) => ({ ...one, index: one.index + 7 }))))
    case 10:
      return answer(
        response,
        200,
        wrap(good.map((one, at) => (at === 0 ? { ...one, embedding: [1, null, 2] } : one)))
      )
    case 11:
      return answer(
        response,
        200,
        wrap(good.map((one, at) => (at === 1 ? { ...one, embedding: [1, 2] } : one)))
      )
    case 12:
      return answer(response, 400, failure("bad input"))
    case 13:
      return answer(response, 200, wrap(good.toReversed()))
    case 14:
      return answer(response, 200, wrap(data(texts, !base64)))
    case 15:
      return // No answer at all: the attempt must end by itself.
    default:
      return answer(response, 200, wrap(good))
  }
}

const listen = (server: Server): Promise<string> =>
  new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`)
    })
  )

const same = (text: string, vector: Float32Array | undefined): boolean =>
  vector !== undefined &&
  vectorOf(text).every(
    (value, at) => Math.abs(value - (vector[at] ?? Number.NaN)) <= 1e-3 * (1 + Math.abs(value))
  )

const checkFailure = (texts: ReadonlyArray<string>, error: GatewayError): void => {
  const reason: GatewayReason = error.reason
  must(!error.message.includes("sk-secret"), () => "an error tells the key")
  if (reason._tag !== "PartialFailure") return
  const failed = new Set(reason.failed)
  for (const [at, text] of texts.entries()) {
    const kept = reason.kept.get(at)
    must(failed.has(at) !== reason.kept.has(at), () => `text ${at} is neither kept nor failed, or both`)
    must(failed.has(at) || same(text, kept), () => `text ${at} kept the vector of another`)
  }
}

export const gateway: Trial = async (random) => {
  const server = createServer(async (request: IncomingMessage, response) => {
    const body = JSON.parse(await bodyOf(request)) as { input: Array<string>; encoding_format?: string }
    misbehave(random, body.input, body.encoding_format === "base64", response)
  })
  const baseUrl = await listen(server)
  try {
    const texts = Array.from({ length: random.between(1, 60) }, (_, at) => `t${at + 1}`)
    const layer = GatewayClient.layer({
      baseUrl,
      apiKey: apiKey("sk-secret-of-the-trial"),
      attemptTimeout: "150 millis",
      callTimeout: "2 seconds",
      retry: { times: 2, base: "1 millis", cap: "5 millis", budget: "1 second" },
      embeddings: { texts: random.between(1, 16), concurrency: random.between(1, 4) }
    })
    const result = await Effect.gen(function* () {
      const { embeddings } = yield* Gateway
      return yield* embeddings({ model: "m", input: texts })
    }).pipe(Effect.provide(layer), Effect.result, Effect.runPromise)
    if (Result.isFailure(result)) {
      checkFailure(texts, result.failure)
      return
    }
    const { vectors } = result.success
    must(vectors.length === texts.length, () => `${vectors.length} vectors for ${texts.length} texts`)
    for (const [at, text] of texts.entries())
      must(same(text, vectors[at]), () => `vector ${at} is of another text`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
