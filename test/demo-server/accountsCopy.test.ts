/** `sluice accounts copy`: copies a data folder's accounts into a PostgreSQL database. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Console, Effect, Exit, Layer, Redacted, Schema, Scope } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { sluice } from "../../apps/demo-server/src/cli/Sluice.ts"
import * as Postgres from "../../apps/demo-server/src/sql/Postgres.ts"
import { bearer, MadeKey, Self } from "./AccountCalls.ts"
import { onPostgres } from "./Stores.ts"
import { startServer, temporaryFolder } from "./TestServer.ts"

const Usage = Schema.Struct({
  data: Schema.Array(Schema.Struct({ model: Schema.String, calls: Schema.Int }))
})

const fields = { name: "k", expired_time: -1, remain_quota: 50_000, subnet: "" }
const embedding = { model: "sluice-lexical-1024", input: "a lock" }

onPostgres((_, store) => {
  it.live("copied accounts keep their keys, tokens, balances and usage, and new ids are not reused", () =>
    Effect.gen(function* () {
      const env = yield* store
      const data = yield* temporaryFolder
      const first = yield* Scope.make()
      const server = yield* Scope.provide(startServer({ data }), first)
      const make = { as: "token", json: fields } as const
      const { data: made } = yield* server.json(MadeKey, "/api/token/", make)
      const { data: removed } = yield* server.json(MadeKey, "/api/token/", make)
      yield* server.call(`/api/token/${removed.id}`, { as: "token", method: "DELETE" })
      assert.strictEqual((yield* server.call("/v1/embeddings", { json: embedding })).status, 200)
      for (let answer = 0; answer < 20; answer++) {
        const headers = { "idempotency-key": `answer-${answer}` }
        yield* server.call("/v1/embeddings", { json: embedding, headers })
      }
      yield* Scope.close(first, Exit.void)

      const said: Array<string> = []
      const copy = (folder: string) =>
        Command.runWith(sluice, { version: "0" })(["accounts", "copy", "--data", folder]).pipe(
          Effect.provideService(Console.Console, {
            ...globalThis.console,
            log: (text: unknown) => void said.push(String(text))
          }),
          Effect.provide(
            Layer.merge(NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromUnknown(env)))
          ),
          Effect.exit
        )
      assert.include(String(yield* copy(yield* temporaryFolder)), "data folder has no accounts")
      assert.isTrue(Exit.isSuccess(yield* copy(data)))
      assert.match(said.join("\n"), /users +1\ntokens +2\n/)
      assert.include(String(yield* copy(data)), "already has accounts")

      // Rows of up to 8 MiB are inserted a few per statement. The command id of a row shows its statement.
      const [most] = yield* Effect.provide(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<{ rows: number }>`SELECT COUNT(*) AS rows FROM idempotency
            GROUP BY cmin::TEXT ORDER BY 1 DESC LIMIT 1`
        ),
        Postgres.layer(Redacted.make(env["SLUICE_DATABASE_URL"] ?? ""))
      )
      assert.deepStrictEqual(most, { rows: 8 })

      const next = yield* startServer({ data, env })
      const asOwner = bearer(server.secrets.accessToken)
      assert.strictEqual(
        (yield* next.call("/v1/embeddings", { ...bearer(made.key), json: embedding })).status,
        200
      )
      const { data: self } = yield* next.json(Self, "/api/user/self", asOwner)
      assert.isBelow(self.quota, 500_000_000)
      const usage = yield* next.json(Usage, "/api/usage", asOwner)
      assert.deepInclude(usage.data[0], { model: embedding.model })
      const { data: another } = yield* next.json(MadeKey, "/api/token/", { ...asOwner, json: fields })
      assert.isAbove(another.id, removed.id)
    }).pipe(Effect.scoped)
  )
})
