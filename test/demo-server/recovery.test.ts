/** Recovery of charges that a stopped or killed server left open. */
import { assert, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect, Latch, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { MediaTasks } from "../../apps/demo-server/src/media/MediaTasks.ts"
import { Prices } from "../../apps/demo-server/src/billing/Prices.ts"
import { Recovery } from "../../apps/demo-server/src/billing/Recovery.ts"
import { Providers } from "../../apps/demo-server/src/routing/Providers.ts"
import { Self } from "./AccountCalls.ts"
import { outOfBalance } from "./Equation.ts"
import { addUser, ledgerIn } from "./LedgerIn.ts"
import { startPaidServer, chat, costs, events, piece } from "./PaidServer.ts"
import { startServer, temporaryFolder } from "./TestServer.ts"
import { json, startUpstream } from "./Upstream.ts"

const HOUR = 3_600_000

/** The states of the charges in a data folder, and the units that the owner has spent or reserved. */
const stateOf = (data: string) => {
  const database = new DatabaseSync(join(data, "accounts.db"))
  const states = database.prepare("SELECT id, state, cost FROM charges ORDER BY id").all()
  const owner = database.prepare("SELECT granted - quota AS spent FROM users").get()
  database.close()
  return { states: states.map(({ id, state, cost }) => [id, state, cost]), spent: owner?.["spent"] }
}

it.live("tasks of upstreams are settled or refunded by their status, and other calls are refunded", () =>
  Effect.gen(function* () {
    const answers = yield* Latch.make(true)
    const states = new Map<string, string>()
    const upstream = yield* startUpstream((response, { method, path }) => {
      const id = path.split("/")[3] ?? `task-${states.size}`
      if (method === "POST" && path === "/v1/videos") states.set(id, "in_progress")
      const answer = Effect.sync(() =>
        json(response, { id, status: states.get(id), data: [{ index: 0, embedding: [1] }] })
      )
      Effect.runFork(answers.whenOpen(answer))
    })
    const data = yield* temporaryFolder
    let key = ""
    let owner = {}
    yield* Effect.scoped(
      Effect.gen(function* () {
        const server = yield* startServer({ data, env: upstream.env })
        key = server.secrets.apiKey
        owner = { authorization: `Bearer ${server.secrets.accessToken}` }
        for (const seconds of ["4", "5", "6"]) {
          const response = yield* server.call("/v1/videos", { json: { model: "v", prompt: "p", seconds } })
          assert.strictEqual(response.status, 200)
        }
      })
    )
    const database = new DatabaseSync(join(data, "accounts.db"))
    const planned = database.prepare("SELECT task, planned FROM charges ORDER BY task").all()
    const granted = database.prepare("SELECT granted FROM users").get()?.["granted"]
    const before = database.prepare("SELECT SUM(reserved) AS reserved FROM charges").get()
    const lost = database.prepare(`INSERT INTO charges
      (id, user_id, operation, model, state, reserved, lease_until, created_at)
      VALUES (?, 'owner', 'images', 'm', ?, 1000, ?, ?)`)
    const now = Date.now()
    lost.run("a-reserved", "reserved", now + HOUR, now)
    lost.run("b-sent", "sent", now - HOUR, now - HOUR)
    database
      .prepare(`INSERT INTO charges
        (id, user_id, operation, model, state, task, reserved, lease_until, created_at)
        VALUES ('c-task-long-ago', 'owner', 'videos', 'v', 'sent', 'gone', 1000, ?, ?)`)
      .run(now - HOUR, now - 25 * HOUR)
    database.exec("UPDATE users SET quota = quota - 3000")
    database.close()
    assert.isTrue(planned.every(({ planned }) => Number(planned) > 0))

    states.set("task-0", "completed").set("task-1", "failed")
    yield* answers.close
    const printed = yield* Effect.scoped(
      Effect.gen(function* () {
        const server = yield* startServer({ data, env: upstream.env })
        const Video = Schema.Struct({ status: Schema.String })
        const headers = { authorization: `Bearer ${key}` }
        yield* answers.open
        const left = Effect.map(
          server.json(Self, "/api/user/self", { as: "none", headers: owner }),
          ({ data }) => data.quota
        )
        const paid = Number(planned[0]?.["planned"]) + Number(planned[2]?.["planned"])
        yield* Effect.repeat(left, {
          schedule: Schedule.spaced("5 millis"),
          until: (quota) => quota === Number(granted) - paid
        })
        const { status } = yield* server.json(Video, "/v1/videos/task-0", { as: "none", headers })
        assert.strictEqual(status, "completed")
        return server.printed.join("\n")
      })
    )
    const [first, , third] = planned
    const { spent, states: left } = stateOf(data)
    assert.deepStrictEqual(left.map(([, state]) => state).toSorted(), [
      "refunded",
      "refunded",
      "refunded",
      "refunded",
      "sent",
      "settled"
    ])
    assert.deepInclude(left, ["a-reserved", "refunded", 0])
    assert.deepInclude(left, ["b-sent", "refunded", 0])
    assert.deepInclude(left, ["c-task-long-ago", "refunded", 0])
    assert.include(printed, "is unknown after")
    assert.isAbove(Number(before?.["reserved"]), 0)
    assert.strictEqual(spent, Number(first?.["planned"]) + Number(third?.["planned"]))
  }).pipe(Effect.scoped)
)

/** Sets the clock forward, as after a sleep of the machine, but not the timers. */
const anHourLater = Effect.acquireRelease(
  Effect.sync(() => {
    const { now } = Date
    Date.now = () => now() + HOUR
    return now
  }),
  (now) => Effect.sync(() => void (Date.now = now))
)

it.live("a running call is charged when it ends, also if the clock was changed", () =>
  Effect.gen(function* () {
    const end = yield* Latch.make()
    const { server } = yield* startPaidServer((response) => {
      events(response, piece("four words of answer"))
      Effect.runFork(
        end.whenOpen(
          Effect.sync(() =>
            response.end(
              'data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":5}}\n\ndata: [DONE]\n\n'
            )
          )
        )
      )
    })
    const streamed = Effect.gen(function* () {
      const response = yield* server.call("/v1/chat/completions", { json: { ...chat, stream: true } })
      yield* anHourLater
      assert.strictEqual(yield* server.recover(Date.now()), 0)
      yield* end.open
      return yield* Effect.promise(() => response.text())
    }).pipe(Effect.scoped)
    assert.include(yield* costs(server, streamed, 25), "[DONE]")
  }).pipe(Effect.scoped)
)

it.live("another server's calls are refunded only after their lease and its write retries have ended", () =>
  Effect.gen(function* () {
    const data = yield* temporaryFolder
    const needs = Layer.mergeAll(MediaTasks.layer, Prices.layer, Layer.succeed(Providers, [])).pipe(
      Layer.provideMerge(ledgerIn(data, {})),
      Layer.provideMerge(ServerConfig.layer),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ SLUICE_DATA: data }))),
      Layer.provide(NodeServices.layer)
    )
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { recover } = yield* Recovery
      const key = yield* addUser("a", { quota: 100 })
      const now = Date.now()
      for (const [id, state, minutes] of [
        ["lately", "sent", 9],
        ["long", "sent", 11],
        ["question", "reserved", 1]
      ] as const) {
        yield* sql`INSERT INTO charges ${sql.insert({ id, user_id: "a", token_id: key, operation: "images", model: "m", state, reserved: 10, lease_until: now - minutes * 60_000, created_at: now - HOUR })}`
        yield* sql`UPDATE users SET quota = quota - 10`
      }
      assert.strictEqual(yield* recover(now), 2)
      const left = yield* sql<{ id: string }>`SELECT id FROM charges WHERE state = 'sent'`
      assert.deepStrictEqual(left, [{ id: "lately" }])
      assert.deepStrictEqual(yield* outOfBalance, [])
    }).pipe(Effect.provide(Recovery.layer.pipe(Layer.provideMerge(needs))))
  }).pipe(Effect.scoped)
)
