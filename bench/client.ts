/** The CPU time of a call in the client, compared with undici alone and with other clients: medians of paired turns. */
import { apiKey, Gateway } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Effect } from "effect"
import { Worker } from "node:worker_threads"
import { Agent } from "undici"
import { type Bench, median, rounded } from "./Bench.ts"
import { type Calls, peerCalls } from "./clientPeers.ts"

const texts = Array.from(
  { length: 20 },
  (_, i) => `A passage of ordinary length, number ${i}, about nothing at all.`
)

/** Connections of each client. */
const CONNECTIONS = 8

/** Rounds. In each, every client has a turn, and the next round has them in the opposite order. */
const ROUNDS = 60

/** Milliseconds of a turn: the CPU time of a thread counts in steps of up to 4 ms. */
const TURN = 25

/** Milliseconds of calls before the first round, until they are compiled: on a slow machine, 2 s are too few. */
const WARM = 6000

type Call = () => Promise<unknown>

/** As many calls at once as there are connections. */
const atOnce =
  (call: Call): Call =>
  () =>
    Promise.all(Array.from({ length: CONNECTIONS }, call))

export const bench: Bench = async ({ quick }) => {
  const worker = new Worker(new URL("clientServer.ts", import.meta.url))
  const port = await new Promise<number>((resolve) => worker.once("message", resolve))
  const baseUrl = `http://127.0.0.1:${port}`
  const agent = new Agent({ connections: CONNECTIONS })
  const scale = quick ? 0.1 : 1

  const undici = (path: string, body: object) => async () => {
    const headers = { "content-type": "application/json", authorization: "Bearer k" }
    const { body: answer } = await agent.request({
      origin: baseUrl,
      path,
      method: "POST",
      headers,
      body: JSON.stringify(body)
    })
    return JSON.parse(await answer.text())
  }

  /** Measures one kind of call after the other, so that none pays for the garbage of another; its clients in turns. */
  const measure = async (calls: Calls) => {
    const turns = new Map<string, ReadonlyArray<number>>()
    const kinds = Map.groupBy(Object.entries(calls), ([name]) => name.slice(name.indexOf(", ")))
    for (const kind of kinds.values()) {
      const all: Array<readonly [Call, number, Array<number>]> = []
      for (const [name, call] of kind) {
        const count = await warmUp(call, WARM * scale)
        const micros: Array<number> = []
        turns.set(name, micros)
        all.push([call, count, micros])
      }
      for (let round = 0; round < ROUNDS * scale; round++) {
        for (const [call, count, micros] of round % 2 === 0 ? all : all.toReversed()) {
          micros.push(await cpuOf(call, count))
        }
      }
    }
    return turns
  }

  const turns = await Effect.gen(function* () {
    const gateway = yield* Gateway
    const run = Effect.runPromiseWith(yield* Effect.context<never>())
    const embed = (model: string) => () => run(gateway.embeddings({ model, input: texts }))
    const embedding = { input: texts, encoding_format: "base64" }
    const reranking = { model: "rerank", query: "q", documents: texts }
    const rerank = () => run(gateway.rerank(reranking))
    const rerankOfUndici = undici("/v1/rerank", reranking)
    return yield* Effect.promise(async () =>
      measure({
        "client, embeddings 20 × 1,536 base64": embed("base64"),
        "undici and JSON.parse, embeddings 20 × 1,536 base64": undici("/v1/embeddings", {
          ...embedding,
          model: "base64"
        }),
        "client, embeddings 20 × 1,536 float": embed("float"),
        "undici and JSON.parse, embeddings 20 × 1,536 float": undici("/v1/embeddings", {
          ...embedding,
          model: "float"
        }),
        "client, rerank of 20": rerank,
        "undici and JSON.parse, rerank of 20": rerankOfUndici,
        "client, eight reranks at once": atOnce(rerank),
        "undici and JSON.parse, eight reranks at once": atOnce(rerankOfUndici),
        ...(await peerCalls(baseUrl, texts))
      })
    )
  }).pipe(
    Effect.provide(GatewayClient.layer({ baseUrl, apiKey: apiKey("k"), connections: CONNECTIONS })),
    Effect.runPromise
  )
  await agent.close()
  await worker.terminate()
  const figures = Object.fromEntries(
    [...turns].map(([name, micros]) => [`${name} (CPU µs)`, rounded(median(micros), 0)])
  )
  for (const [name, dear, cheap] of RATIOS) {
    const [a = [], b = []] = [turns.get(dear), turns.get(cheap)]
    const ratios = a.map((micros, round) => micros / (b[round] ?? Number.NaN))
    if (ratios.length > 0) figures[`${name} (× CPU)`] = rounded(median(ratios))
  }
  return figures
}

/** Calls until they are compiled. Returns how many fill a turn. */
const warmUp = async (call: Call, millis: number): Promise<number> => {
  const start = performance.now()
  let count = 0
  while (performance.now() - start < millis) {
    await call()
    count++
  }
  return Math.ceil((count * TURN) / millis)
}

/** Microseconds of CPU time of this thread for a call, by `count` calls one after the other. */
const cpuOf = async (call: Call, count: number): Promise<number> => {
  const before = process.threadCpuUsage()
  for (let i = 0; i < count; i++) await call()
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / count
}

/** Targets: at most 1.5, at least 2, at most 2 and 2. The last is for comparison. */
const RATIOS = [
  [
    "client to undici, embeddings base64",
    "client, embeddings 20 × 1,536 base64",
    "undici and JSON.parse, embeddings 20 × 1,536 base64"
  ],
  [
    "openai to client, embeddings base64",
    "openai, embeddings 20 × 1,536 base64",
    "client, embeddings 20 × 1,536 base64"
  ],
  ["client to undici, rerank", "client, rerank of 20", "undici and JSON.parse, rerank of 20"],
  [
    "client to undici, eight reranks at once",
    "client, eight reranks at once",
    "undici and JSON.parse, eight reranks at once"
  ],
  ["cohere-ai to client, rerank", "cohere-ai, rerank of 20", "client, rerank of 20"]
] as const
