/** The CPU time of a call in the client, compared with undici alone and with other clients. */
import { apiKey, Gateway } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Effect } from "effect"
import { Worker } from "node:worker_threads"
import { Agent } from "undici"
import { type Bench, rounded } from "./Bench.ts"
import { type Calls, peerCalls } from "./clientPeers.ts"

const texts = Array.from(
  { length: 20 },
  (_, i) => `A passage of ordinary length, number ${i}, about nothing at all.`
)

/** Concurrent calls, and connections of each client. */
const CONCURRENCY = 8

/** Rounds of each client, in turns, so that other load affects all alike. The best one counts. */
const REPEATS = 30

/** Calls of a round: few, because a longer round is interrupted more often. */
const ROUND = 20

/** Milliseconds of calls before the first round, until they are compiled. */
const WARM = 2000

export const bench: Bench = async ({ quick }) => {
  const worker = new Worker(new URL("clientServer.ts", import.meta.url))
  const port = await new Promise<number>((resolve) => worker.once("message", resolve))
  const baseUrl = `http://127.0.0.1:${port}`
  const agent = new Agent({ connections: CONCURRENCY })
  const repeats = quick ? 10 : REPEATS

  /** Microseconds of a call, sequentially: CPU time of this thread, and wall time. */
  const cost = async (call: () => Promise<unknown>) => {
    const before = process.threadCpuUsage()
    const start = performance.now()
    for (let i = 0; i < ROUND; i++) await call()
    const wall = ((performance.now() - start) * 1000) / ROUND
    const { system, user } = process.threadCpuUsage(before)
    return { cpu: (system + user) / ROUND, wall }
  }

  /** Calls per second with eight concurrent calls. */
  const throughput = async (call: () => Promise<unknown>) => {
    const start = performance.now()
    const all = ROUND * 4
    let left = all
    const work = async () => {
      while (left-- > 0) await call()
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
    return all / ((performance.now() - start) / 1000)
  }

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
    const best = new Map<string, { cpu: number; wall: number; throughput: number }>()
    const kinds = Map.groupBy(Object.entries(calls), ([name]) => name.slice(name.indexOf(", ")))
    for (const kind of kinds.values()) {
      for (const [name, call] of kind) {
        best.set(name, { cpu: Infinity, wall: Infinity, throughput: 0 })
        const start = performance.now()
        while (performance.now() - start < (quick ? WARM / 8 : WARM)) await call()
      }
      for (let repeat = 0; repeat < repeats; repeat++) {
        for (const [name, call] of kind) {
          const entry = best.get(name)
          if (entry === undefined) continue
          entry.throughput = Math.max(entry.throughput, await throughput(call))
          const { cpu, wall } = await cost(call)
          entry.cpu = Math.min(entry.cpu, cpu)
          entry.wall = Math.min(entry.wall, wall)
        }
      }
    }
    return best
  }

  const best = await Effect.gen(function* () {
    const gateway = yield* Gateway
    const run = Effect.runPromiseWith(yield* Effect.context<never>())
    const embed = (model: string) => () => run(gateway.embeddings({ model, input: texts }))
    const embedding = { input: texts, encoding_format: "base64" }
    const reranking = { model: "rerank", query: "q", documents: texts }
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
        "client, rerank of 20": () => run(gateway.rerank(reranking)),
        "undici and JSON.parse, rerank of 20": undici("/v1/rerank", reranking),
        ...(await peerCalls(baseUrl, texts))
      })
    )
  }).pipe(
    Effect.provide(GatewayClient.layer({ baseUrl, apiKey: apiKey("k"), connections: CONCURRENCY })),
    Effect.runPromise
  )
  await agent.close()
  await worker.terminate()
  const figures = Object.fromEntries(
    [...best].flatMap(([name, { cpu, throughput, wall }]) => [
      [`${name} (CPU µs)`, rounded(cpu, 0)],
      [`${name} (wall µs)`, rounded(wall, 0)],
      [`${name} (calls/s, ${CONCURRENCY} concurrent)`, rounded(throughput, 0)]
    ])
  )
  for (const [name, dear, cheap] of RATIOS) {
    const [a, b] = [best.get(dear), best.get(cheap)]
    if (a === undefined || b === undefined) continue
    figures[`${name} (× CPU)`] = rounded(a.cpu / b.cpu)
    figures[`${name} (× wall)`] = rounded(a.wall / b.wall)
    figures[`${name} (× calls/s)`] = rounded(b.throughput / a.throughput)
  }
  return figures
}

/** Targets: at most 1.5, at least 2, at most 2. The last is for comparison. */
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
  ["cohere-ai to client, rerank", "cohere-ai, rerank of 20", "client, rerank of 20"]
] as const
