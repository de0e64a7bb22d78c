/** Kills a busy server repeatedly at random moments. The ledger must add up each time. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as NodeSqlite from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import type { Random } from "../../bench/corpus/Random.ts"
import { outOfBalance, sums } from "../demo-server/Equation.ts"
import { startProcess } from "../demo-server/Process.ts"
import { type ReceivedRequest, json, startUpstream } from "../demo-server/Upstream.ts"
import { must, type Trial } from "./Trial.ts"

const KILLS = 2
const CALLERS = 8

type Call = readonly [path: string, body: unknown]
const CALLS: readonly [Call, ...Array<Call>] = [
  ["/v1/embeddings", { model: "sluice-lexical-1024", input: ["a lock", "a weir"] }],
  ["/v1/rerank", { model: "sluice-lexical-rerank", query: "lock", documents: ["a lock", "a weir"] }],
  ["/v1/chat/completions", chat(false)],
  ["/v1/chat/completions", chat(true)],
  ["/v1/chat/completions", { ...chat(false), model: "far" }],
  ["/v1/chat/completions", { ...chat(true), model: "far" }],
  ["/v1/images/generations", { model: "sluice-image-i5-task", prompt: "a lock", aspect_ratio: "1:1" }],
  ["/v1/videos", { model: "sluice-video-failing", prompt: "a lock", seconds: "4" }],
  ["/v1/videos", { model: "sluice-video-v-f", prompt: "a lock", seconds: "5", size: "480P" }]
]

function chat(stream: boolean) {
  const messages = [{ role: "user", content: "The lock opens at nine.\n\nWhen does the lock open?" }]
  return { model: "sluice-extractive", messages, stream }
}

/** Tasks are charged when they end. */
const isTask = (path: string) => path === "/v1/images/generations" || path === "/v1/videos"

/** Calls until the server is gone. Returns how many complete answers came, each of which must be paid. */
const callOn = async (random: Random, url: string, key: string, onAnswer: () => void): Promise<number> => {
  let answered = 0
  for (;;) {
    const [path, body] = random.pick(CALLS)
    try {
      const response = await fetch(url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
      await response.text()
      if (response.status === 200 && !isTask(path)) answered++
      onAnswer()
    } catch {
      return answered
    }
  }
}

/** The database as the killed server left it. */
const inspect = (data: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const wrong = yield* outOfBalance
    must(wrong.length === 0, () => `it does not add up: ${JSON.stringify(wrong)}`)
    const [owner] = yield* sums
    const [row] = yield* sql<{ calls: number; paid: number; waiting: number }>`SELECT COUNT(*) AS calls,
      COALESCE(SUM(CASE WHEN state = 'settled' AND operation NOT IN ('images', 'videos') THEN 1 ELSE 0 END), 0) AS paid,
      COALESCE(SUM(CASE WHEN state = 'reserved' THEN 1 ELSE 0 END), 0) AS waiting FROM charges`
    return { calls: Number(row?.calls), paid: Number(row?.paid), waiting: Number(row?.waiting), owner }
  }).pipe(Effect.provide(NodeSqlite.layer(join(data, "accounts.db"))), Effect.runPromise)

/** Answers a chat after a delay, whole or as events, so that upstream calls are killed in flight too. */
const far = (response: ServerResponse, { body }: ReceivedRequest) => {
  const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
  const message = { role: "assistant", content: "At nine." }
  setTimeout(() => {
    if (!body.includes('"stream":true')) return json(response, { choices: [{ index: 0, message }], usage })
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const event of [{ choices: [{ index: 0, delta: message }] }, { choices: [], usage }])
      response.write(`data: ${JSON.stringify(event)}\n\n`)
    return response.end("data: [DONE]\n\n")
  }, 5)
}

/** Runs a server and kills it when `during` has ended. */
const life = async (data: string, during: (url: string, printed: string) => Promise<void>) => {
  const ended = await Effect.gen(function* () {
    const upstream = yield* startUpstream(far)
    const file = join(data, "sluice.config.json")
    const models = [{ id: "far", operation: "chat" }]
    const upstreams = [
      { id: "far", url: upstream.env["SLUICE_GATEWAY_URL"], apiKey: { env: "FAR_KEY" }, models }
    ]
    yield* Effect.promise(() => writeFile(file, JSON.stringify({ upstreams, embedded: true })))
    const server = yield* startProcess({ SLUICE_DATA: data, SLUICE_CONFIG: file, FAR_KEY: "sk-far" })
    const printed = yield* server.printed("Reference")
    const [, url = ""] = /(http:\/\/\S+)\/#login/.exec(printed) ?? []
    yield* Effect.promise(() => during(url, printed))
    return { process: server.ended }
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer), Effect.runPromise)
  await Effect.runPromise(ended.process)
}

export const ledger: Trial = async (random) => {
  const data = await mkdtemp(join(tmpdir(), "sluice-ledger-"))
  // The servers do not read the sample documents: that takes seconds.
  await writeFile(join(data, "samples-read"), "")
  try {
    let key = ""
    let answered = 0
    let callers: Array<Promise<number>> = []
    for (let kill = 0; kill < KILLS; kill++) {
      await life(data, async (url, printed) => {
        key = /API key +(sk-\w+)/.exec(printed)?.[1] ?? key
        await new Promise<void>((first) => {
          callers = Array.from({ length: CALLERS }, () => callOn(random, url, key, first))
        })
        await sleep(random.between(0, 500))
      })
      for (const caller of callers) answered += await caller
      const { paid } = await inspect(data)
      must(paid >= answered, () => `${answered} calls were answered, and ${paid} are paid for`)
    }
    // The next server recovers open charges before it takes a call.
    await life(data, async () => {})
    const { calls, owner, waiting } = await inspect(data)
    must(waiting === 0, () => `${waiting} reserves of ${calls} are left by servers that have ended`)
    must(owner !== undefined && owner.quota + owner.settled <= owner.granted, () => JSON.stringify(owner))
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}
