/** What a call of the gateway costs the process that makes it: its own CPU time, against undici by hand. */
import { apiKey, Gateway } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Effect } from "effect"
import { Worker } from "node:worker_threads"
import { Agent } from "undici"
import { type Bench, rounded } from "./Bench.ts"

const texts = Array.from(
  { length: 20 },
  (_, i) => `A passage of ordinary length, number ${i}, about nothing at all.`
)

export const bench: Bench = async ({ quick }) => {
  const worker = new Worker(new URL("clientServer.ts", import.meta.url))
  const port = await new Promise<number>((resolve) => worker.once("message", resolve))
  const baseUrl = `http://127.0.0.1:${port}`
  const agent = new Agent({ connections: 1 })
  const rounds = quick ? 100 : 500

  /** Microseconds of this thread's CPU a call; the best of five, the first of them warms up. */
  const cost = async (call: () => Promise<unknown>) => {
    let best = Infinity
    for (let repeat = 0; repeat < 5; repeat++) {
      const before = process.threadCpuUsage()
      for (let i = 0; i < rounds; i++) await call()
      const { system, user } = process.threadCpuUsage(before)
      best = Math.min(best, (system + user) / rounds)
    }
    return rounded(best, 0)
  }

  const raw = (path: string, body: object) => async () => {
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

  const figures = await Effect.gen(function* () {
    const gateway = yield* Gateway
    const run = Effect.runPromiseWith(yield* Effect.context<never>())
    const embed = (model: string) => () => run(gateway.embeddings({ model, input: texts }))
    const rerank = () => run(gateway.rerank({ model: "rerank", query: "q", documents: texts }))
    const rawEmbed = raw("/v1/embeddings", { model: "float", input: texts })
    const rawRerank = raw("/v1/rerank", { model: "rerank", query: "q", documents: texts })
    return yield* Effect.promise(async () => ({
      "client, embeddings 20 × 1,536 base64 (CPU µs)": await cost(embed("base64")),
      "client, embeddings 20 × 1,536 float (CPU µs)": await cost(embed("float")),
      "undici and JSON.parse, embeddings 20 × 1,536 float (CPU µs)": await cost(rawEmbed),
      "client, rerank of 20 (CPU µs)": await cost(rerank),
      "undici and JSON.parse, rerank of 20 (CPU µs)": await cost(rawRerank)
    }))
  }).pipe(
    Effect.provide(GatewayClient.layer({ baseUrl, apiKey: apiKey("k"), connections: 1 })),
    Effect.runPromise
  )
  await agent.close()
  await worker.terminate()
  return figures
}
