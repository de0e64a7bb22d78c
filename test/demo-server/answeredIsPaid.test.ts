/** Whoever was answered has paid, on either way: the files as they are when the answer comes, opened by the next server. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { copyFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { outOfBalance } from "./Equation.ts"
import { ledgerIn } from "./LedgerIn.ts"
import { before, embed, vectors } from "./PaidServer.ts"
import { temporaryFolder } from "./TestServer.ts"
import { json } from "./Upstream.ts"

/** As the operating system has them when the process is killed now. */
const asKilled = (from: string, to: string) => {
  for (const name of ["accounts.db", "accounts.db-wal", "accounts.db-noted"]) {
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name))
  }
}

const settled = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ cost: number }>`SELECT cost FROM charges WHERE state = 'settled'`
  assert.deepStrictEqual(yield* outOfBalance, [])
  return rows.map(({ cost }) => Number(cost))
})

for (const [way, headers] of [
  ["the lane", {}],
  // Whatever has a cookie goes the other way.
  ["the other way", { cookie: "theme=dark" }]
] as const) {
  it.live(`who was answered on ${way} has paid when the server is killed at that moment`, () =>
    Effect.gen(function* () {
      const usage = { prompt_tokens: 2, total_tokens: 2 }
      const { server } = yield* before((response) => json(response, vectors(usage)))
      const lefts: Array<string> = []
      for (const _ of ["first", "second", "third"]) {
        const left = yield* temporaryFolder
        const { status } = yield* server.call("/v1/embeddings", { json: embed, headers })
        asKilled(server.data, left)
        assert.strictEqual(status, 200)
        lefts.push(left)
      }
      for (const [at, left] of lefts.entries()) {
        const paid = yield* Effect.provide(settled, ledgerIn(left, {}))
        assert.deepStrictEqual(paid, Array(at + 1).fill(2))
      }
    }).pipe(Effect.scoped)
  )
}
