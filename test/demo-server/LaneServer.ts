/** A server in front of an upstream, and what tells whether a request took its lane. */
import { Effect, Exit, Scope } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { priced } from "./PaidServer.ts"
import { startServer, temporaryFolder, type TestServer } from "./TestServer.ts"
import { type Answering, json, startUpstream } from "./Upstream.ts"

type Server = TestServer["Service"]

export const message = { role: "user", content: "one two three" }
export const chat = { model: "c", messages: [message], max_tokens: 50 }

export const answer = (usage: unknown) => ({
  id: "a-1",
  model: "c",
  choices: [{ index: 0, message: { role: "assistant", content: "four five" }, finish_reason: "stop" }],
  data: [{ index: 0, embedding: [1] }],
  results: [{ index: 0, relevance_score: 1 }],
  usage
})

/** It asks for nothing, and is not usual. */
export const OTHER_WAY = { "content-encoding": "identity" }

/** A server in front of an upstream with another name for a model; answers are `answering`'s, which may change. */
export const startInFront = Effect.gen(function* () {
  const upstream = yield* startUpstream((...asked) => behaviour.now(...asked))
  const behaviour: { now: Answering } = { now: (response) => json(response, answer(undefined)) }
  const folder = yield* temporaryFolder
  const file = join(folder, "sluice.config.json")
  const models = [
    { id: "c", operation: "chat", aliases: ["mine"] },
    { id: "e", operation: "embeddings" },
    { id: "r", operation: "rerank" },
    { id: "late", operation: "chat", timeoutSeconds: 0.5 }
  ]
  const url = upstream.env["SLUICE_GATEWAY_URL"]
  const one = { id: "one", url, apiKey: { env: "UPSTREAM_KEY" }, models }
  writeFileSync(file, JSON.stringify({ upstreams: [one] }))
  const scope = yield* Scope.make()
  const data = yield* temporaryFolder
  const server = yield* startServer({
    data,
    env: {
      ...(yield* priced),
      SLUICE_CONFIG: file,
      UPSTREAM_KEY: "sk-upstream",
      SLUICE_LOG_REQUESTS: "true",
      SLUICE_REQUESTS_PER_MINUTE: "100000",
      SLUICE_TOKENS_PER_MINUTE: "100000000"
    }
  }).pipe(Scope.provide(scope))
  /** Ends it, and reads what calls it has charged, the first first. */
  const charges = Effect.gen(function* () {
    yield* Scope.close(scope, Exit.void)
    const database = new DatabaseSync(join(data, "accounts.db"))
    const rows = database
      .prepare(
        `SELECT user_id, token_id, operation, model, state, reserved, cost, uncollected, input_tokens, output_tokens
        FROM charges ORDER BY rowid`
      )
      .all()
    database.close()
    return rows
  })
  return { server, behaviour, asked: upstream.asked, charges }
})

export const metricsOf = ({ call }: Server) =>
  Effect.map(
    Effect.flatMap(call("/metrics", { as: "none" }), (response) => Effect.promise(() => response.text())),
    (text) =>
      new Map(
        text
          .split("\n")
          // How long it took is not the same twice.
          .filter((line) => /^[a-z]/.test(line) && !/^process|seconds|duration|"\/metrics"/.test(line))
          .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))])
      )
  )

export const LANED = "sluice_lane_requests_total"

/** What a request has changed in the metrics. */
export const grown = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) =>
  Object.fromEntries(
    [...after]
      .map(([name, value]) => [name, value - (before.get(name) ?? 0)])
      .filter(([, more]) => more !== 0)
  )
