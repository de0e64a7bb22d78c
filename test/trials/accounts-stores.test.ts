/** The accounts' services, on SQLite and on PostgreSQL. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Logger, Redacted, Schedule } from "effect"
import { HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import { SignIn } from "../../apps/demo-server/src/accounts/SignIn.ts"
import { makeAuthenticator } from "../../apps/demo-server/src/accounts/Authenticator.ts"
import { ApiKeys, type KeyFields } from "../../apps/demo-server/src/accounts/ApiKeys.ts"
import { DatabaseLayer } from "../../apps/demo-server/src/database/Database.ts"
import { Users } from "../../apps/demo-server/src/accounts/Users.ts"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { layer as layerPostgres } from "../../apps/demo-server/src/sql/Postgres.ts"
import { readCommitted, serializable } from "../../apps/demo-server/src/sql/Transaction.ts"
import { onEachStore, onPostgres } from "../demo-server/Stores.ts"
import { startServer, temporaryFolder } from "../demo-server/TestServer.ts"

/** The accounts' services, with their database. */
const accountsIn = (env: Record<string, string>) =>
  Layer.mergeAll(SignIn.layer, ApiKeys.layer, Users.layer).pipe(
    Layer.provideMerge(DatabaseLayer),
    Layer.provide(ServerConfig.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env))),
    Layer.provide(NodeServices.layer)
  )

/** The message of a failed start. */
const refused = (env: Record<string, string>) =>
  Effect.map(Effect.flip(Effect.scoped(Layer.build(accountsIn(env)))), ({ message }) => message)

const fields: KeyFields = { name: "key", status: 1, expires_at: null, remain_quota: 7, subnet: "" }

onEachStore((store) => {
  /** Accounts in a new data folder. */
  const fresh = Effect.gen(function* () {
    return accountsIn({ SLUICE_DATA: yield* temporaryFolder, ...(yield* store) })
  })

  it.live("the first start creates the credentials once, and only if they are printed", () =>
    Effect.gen(function* () {
      const accounts = yield* fresh
      yield* Effect.scoped(Layer.build(accounts))
      const told = Effect.provide(
        Effect.flatMap(SignIn, ({ firstStart }) => Effect.all([firstStart, firstStart])),
        accounts
      )
      const [first, again] = yield* told
      assert.match(first?.apiKey ?? "", /^sk-\w{48}$/)
      assert.deepStrictEqual(again, first)
      assert.deepStrictEqual(yield* told, [undefined, undefined])
    }).pipe(Effect.scoped)
  )

  it.live("a system access token is replaced once: a second replacement of the same token does nothing", () =>
    Effect.gen(function* () {
      const secrets = yield* (yield* SignIn).firstStart
      const users = yield* Users
      const rotate = users.rotateToken("owner", secrets?.accessToken ?? "")
      const both = yield* Effect.all([rotate, rotate], { concurrency: 2 })
      const got = both.filter((token) => token !== undefined)
      assert.lengthOf(got, 1)
      assert.strictEqual((yield* users.bySystemToken(got[0] ?? ""))?.id, "owner")
    }).pipe(Effect.provide(Layer.unwrap(fresh)), Effect.scoped)
  )

  it.live("a session is valid until it is closed", () =>
    Effect.gen(function* () {
      const signIn = yield* SignIn
      yield* signIn.firstStart
      const token = yield* signIn.openSession("owner", 1)
      assert.deepStrictEqual(yield* signIn.session(token), { user_id: "owner", token_id: 1 })
      assert.isUndefined(yield* signIn.session(`${token}x`))
      yield* signIn.closeSession(token)
      assert.isUndefined(yield* signIn.session(token))
    }).pipe(Effect.provide(Layer.unwrap(fresh)), Effect.scoped)
  )

  it.live("a key is created, found, listed, searched without wildcards, updated and removed", () =>
    Effect.gen(function* () {
      yield* (yield* SignIn).firstStart
      const keys = yield* ApiKeys
      const remain_quota = Number.MAX_SAFE_INTEGER
      const made = yield* keys.create("owner", { ...fields, name: "50% O'Brien", remain_quota })
      const { id } = made.row
      assert.strictEqual((yield* keys.find(made.secret))?.id, id)
      assert.strictEqual((yield* keys.get("owner", id))?.remain_quota, remain_quota)
      assert.isUndefined(yield* keys.get("stranger", id))
      const page = { size: 10, skip: 0 }
      assert.deepStrictEqual(
        (yield* keys.list("owner", page)).map(({ name }) => name),
        ["50% O'Brien", "first"]
      )
      assert.lengthOf(yield* keys.search("owner", "0% o'b", 10), 1)
      assert.lengthOf(yield* keys.search("owner", "%", 10), 1)
      assert.lengthOf(yield* keys.search("owner", "_", 10), 0)
      const expires_at = 4_000_000_000_000
      const changed = yield* keys.update("owner", id, { status: 0, expires_at, name: "after" })
      assert.deepInclude(changed, { id, status: 0, expires_at, name: "after", remain_quota })
      assert.strictEqual((yield* keys.update("owner", id, { expires_at: null }))?.expires_at, null)
      assert.isTrue(yield* keys.remove("owner", id))
      assert.isFalse(yield* keys.remove("owner", id))
      const next = yield* keys.create("owner", fields)
      assert.isAbove(next.row.id, id, "no id is given twice")
    }).pipe(Effect.provide(Layer.unwrap(fresh)), Effect.scoped)
  )

  it.live("an unavailable database is 503, never 401, and works again after the repair", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const secrets = yield* (yield* SignIn).firstStart
        const { byKey, byToken } = yield* makeAuthenticator
        const request = HttpServerRequest.fromWeb(new Request("http://127.0.0.1/v1/models"))
        const asked = Effect.provideService(
          Effect.all([
            Effect.result(byKey(secrets?.apiKey ?? "")),
            Effect.result(byKey("sk-wrong")),
            Effect.result(byToken(secrets?.accessToken ?? ""))
          ]),
          HttpServerRequest.HttpServerRequest,
          request
        )
        const statuses = Effect.map(asked, (results) =>
          results.map((result) => (result._tag === "Failure" ? result.failure.status : 200))
        )
        assert.deepStrictEqual(yield* statuses, [200, 401, 200])
        yield* sql`ALTER TABLE tokens RENAME TO gone`
        yield* sql`ALTER TABLE system_tokens RENAME TO gone_too`
        assert.deepStrictEqual(yield* statuses, [503, 503, 503])
        assert.lengthOf(logged, 3)
        for (const line of logged) assert.match(line, /no such table|does not exist/)
        yield* sql`ALTER TABLE gone RENAME TO tokens`
        yield* sql`ALTER TABLE gone_too RENAME TO system_tokens`
        assert.deepStrictEqual(yield* statuses, [200, 401, 200])
      }).pipe(Effect.provide([yield* fresh, logger]))
    }).pipe(Effect.scoped)
  )

  it.live("a transaction rolls back completely, and a unique violation is identified", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const user = sql.insert({ id: "a", username: "a", role: "user", quota: 0, created_at: 0 })
      const twice = Effect.andThen(sql`INSERT INTO users ${user}`, sql`INSERT INTO users ${user}`)
      const error = yield* Effect.flip(sql.withTransaction(twice))
      assert.strictEqual(error.reason._tag, "UniqueViolation")
      assert.deepStrictEqual(yield* sql`SELECT * FROM users`, [])
    }).pipe(Effect.provide(Layer.unwrap(fresh)), Effect.scoped)
  )

  const balances = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE balances (name TEXT PRIMARY KEY, units BIGINT NOT NULL)`
    yield* sql`INSERT INTO balances ${sql.insert([
      { name: "a", units: 20 },
      { name: "b", units: 20 }
    ])}`
    return sql
  })

  it.live("60 concurrent calls for 20 units in two balances take exactly 20", () =>
    Effect.gen(function* () {
      const sql = yield* balances
      const take = (name: string) =>
        Effect.flatMap(
          sql`UPDATE balances SET units = units - 1 WHERE name = ${name} AND units >= 1 RETURNING units`,
          ({ length }) => (length === 1 ? Effect.void : Effect.fail("short" as const))
        )
      const both = readCommitted(Effect.andThen(take("a"), take("b")))
      const results = yield* Effect.forEach(Array.from({ length: 60 }), () => Effect.result(both), {
        concurrency: "unbounded"
      })
      const failures = results.flatMap((result) => (result._tag === "Failure" ? [result.failure] : []))
      assert.deepStrictEqual(
        failures,
        Array.from({ length: 40 }, () => "short")
      )
      const left = yield* sql<{ units: number }>`SELECT units FROM balances`
      assert.deepStrictEqual(left, [{ units: 0 }, { units: 0 }])
    }).pipe(Effect.provide(Layer.unwrap(fresh)), Effect.scoped)
  )

  it.live("two transactions that deadlock both succeed, one after the other", () =>
    Effect.gen(function* () {
      const sql = yield* balances
      const take = (name: string) => sql`UPDATE balances SET units = units - 1 WHERE name = ${name}`
      const pairs = [
        ["a", "b"],
        ["b", "a"],
        ["a", "b"],
        ["b", "a"]
      ]
      yield* Effect.forEach(pairs, (names) => readCommitted(Effect.forEach(names, take, { discard: true })), {
        concurrency: "unbounded"
      })
      const left = yield* sql<{ units: number }>`SELECT units FROM balances`
      assert.deepStrictEqual(left, [{ units: 16 }, { units: 16 }])
    }).pipe(Effect.provide(Layer.unwrap(fresh)), Effect.scoped)
  )

  it.live("what a serial transaction has read does not change until it ends", () =>
    Effect.gen(function* () {
      const sql = yield* balances
      // Each transaction takes half of the 40. Without isolation two would both see 40.
      const takeAll = (name: string) =>
        serializable(
          Effect.gen(function* () {
            const rows = yield* sql<{ units: number }>`SELECT units FROM balances`
            if (rows.reduce((sum, { units }) => sum + units, 0) < 40) return false
            yield* sql`UPDATE balances SET units = 0 WHERE name = ${name}`
            return true
          })
        )
      const took = yield* Effect.forEach(["a", "b", "a", "b", "a", "b"], takeAll, {
        concurrency: "unbounded"
      })
      assert.lengthOf(
        took.filter((did) => did),
        1
      )
    }).pipe(Effect.provide(Layer.unwrap(fresh)), Effect.scoped)
  )
})

onPostgres((postgres, store) => {
  it.live(
    "servers that start together on an empty database create one owner, and one prints the credentials",
    () =>
      Effect.gen(function* () {
        const env = yield* store
        const start = Effect.gen(function* () {
          const accounts = accountsIn({ ...env, SLUICE_DATA: yield* temporaryFolder })
          return yield* Effect.provide(
            Effect.flatMap(SignIn, ({ firstStart }) => firstStart),
            accounts
          )
        })
        const told = yield* Effect.all([start, start, start], { concurrency: "unbounded" })
        assert.lengthOf(
          told.filter((secrets) => secrets !== undefined),
          1
        )
      }).pipe(Effect.scoped)
  )

  it.live("a server returns 503 while its database is away, and works again when it is back", () =>
    Effect.gen(function* () {
      const { start, stop } = yield* postgres
      const { call, printed } = yield* startServer({ env: yield* store })
      const paths = [
        ["/v1/models", "key"],
        ["/api/user/self", "token"],
        ["/documents", "key"],
        ["/documents", "session"]
      ] as const
      const statuses = Effect.forEach(paths, ([path, as]) =>
        Effect.map(call(path, { as }), ({ status }) => status)
      )
      assert.deepStrictEqual(yield* statuses, [200, 200, 200, 200])
      yield* stop
      assert.deepStrictEqual(yield* statuses, [503, 503, 503, 503])
      const refused = yield* call("/v1/models")
      assert.strictEqual(refused.headers.get("retry-after"), "1")
      assert.include(yield* Effect.promise(() => refused.text()), "accounts_unavailable")
      yield* start
      assert.deepStrictEqual(yield* statuses, [200, 200, 200, 200])
      assert.notMatch(printed.join("\n"), /postgres:\/\//)
    }).pipe(Effect.scoped)
  )

  it.live("a server that starts before its database waits for it", () =>
    Effect.gen(function* () {
      const { start, stop } = yield* postgres
      const env = yield* store
      yield* stop
      const starting = yield* Effect.forkChild(startServer({ env }))
      yield* Effect.sleep("1 second")
      assert.isUndefined(starting.pollUnsafe())
      yield* start
      const { call } = yield* Fiber.join(starting)
      assert.strictEqual((yield* call("/v1/models")).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("a server is not ready while its database is read-only", () =>
    Effect.gen(function* () {
      const { database } = yield* postgres
      const address = yield* database
      const { call } = yield* startServer({ env: { SLUICE_DATABASE_URL: address } })
      const ready = Effect.flatMap(call("/readyz", { as: "none" }), (response) =>
        Effect.promise(() => response.text())
      )
      assert.include(yield* ready, '"database":"ok"')
      const connection = yield* Layer.build(layerPostgres(Redacted.make(address)))
      const sql = Context.get(connection, SqlClient.SqlClient)
      const name = new URL(address).pathname.slice(1)
      yield* sql`ALTER DATABASE ${sql(name)} SET default_transaction_read_only = on`
      yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`
      const told = yield* Effect.repeat(ready, {
        until: (text) => text.includes("is read-only"),
        schedule: Schedule.spaced("50 millis")
      })
      assert.include(told, "not_ready")
    }).pipe(Effect.scoped)
  )

  it.live("a database that stops responding times out, and is used again when it responds", () =>
    Effect.gen(function* () {
      const { database, hush } = yield* postgres
      const sql = Context.get(
        yield* Layer.build(layerPostgres(Redacted.make(yield* database), "2 seconds")),
        SqlClient.SqlClient
      )
      const ask = sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
      const pids = (yield* ask).map(({ pid }) => pid)
      const error = yield* Effect.scoped(Effect.andThen(hush(pids), Effect.flip(sql.withTransaction(ask))))
      assert.strictEqual(error.reason._tag, "ConnectionError")
      assert.lengthOf(yield* ask, 1)
    }).pipe(Effect.scoped)
  )

  it.live("a data folder in use by another server is rejected until that server stops", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const [one, other] = [yield* store, yield* store]
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(accountsIn({ ...one, SLUICE_DATA: data }))
          assert.match(
            yield* refused({ ...other, SLUICE_DATA: data }),
            /in use by another server.*SLUICE_DATA/
          )
        })
      )
      yield* Effect.scoped(Layer.build(accountsIn({ ...other, SLUICE_DATA: data })))
    }).pipe(Effect.scoped)
  )

  it.live("a database of a newer version is rejected and not changed", () =>
    Effect.gen(function* () {
      const env = { ...(yield* store), SLUICE_DATA: yield* temporaryFolder }
      yield* Effect.provide(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`INSERT INTO migrations (migration_id, name) VALUES (999, 'later')`
        ),
        accountsIn(env)
      )
      assert.match(yield* refused(env), /SLUICE_DATABASE_URL.*newer version/)
    }).pipe(Effect.scoped)
  )
})

describe("a missing database", () => {
  for (const [url, told] of [
    [
      "postgres://someone:canary@127.0.0.1:1/accounts",
      /SLUICE_DATABASE_URL cannot be opened.* connect: connect ECONNREFUSED.*start it/
    ],
    ["mysql://someone:canary@127.0.0.1/accounts", /SLUICE_DATABASE_URL must be a PostgreSQL address/]
  ] as const) {
    it.live(`${url.slice(0, 5)} fails the start without showing its password`, () =>
      Effect.gen(function* () {
        const message = yield* refused({
          SLUICE_DATA: yield* temporaryFolder,
          SLUICE_DATABASE_URL: url,
          SLUICE_DATABASE_WAIT_SECONDS: "0.1"
        })
        assert.match(message, told)
        assert.notInclude(message, "canary")
      }).pipe(Effect.scoped)
    )
  }
})

describe("SLUICE_SYNCHRONOUS", () => {
  it.live("is full or normal", () =>
    Effect.gen(function* () {
      const env = { SLUICE_DATA: yield* temporaryFolder, SLUICE_SYNCHRONOUS: "off" }
      assert.match(yield* refused(env), /SLUICE_SYNCHRONOUS|"full"/)
    }).pipe(Effect.scoped)
  )
})
