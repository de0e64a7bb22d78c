/** A charge is settled before the response is sent, so that a killed server loses no settlement. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { copyFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { outOfBalance } from "./Equation.ts"
import { ledgerIn } from "./LedgerIn.ts"
import { startPaidServer, embed, vectors } from "./PaidServer.ts"
import { temporaryFolder } from "./TestServer.ts"
import { json } from "./Upstream.ts"

/** Copies the database files as a kill at this moment would leave them. */
const copyDatabase = (from: string, to: string) => {
  for (const name of ["accounts.db", "accounts.db-wal"]) {
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name))
  }
}

const settled = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ cost: number }>`SELECT cost FROM charges WHERE state = 'settled'`
  assert.deepStrictEqual(yield* outOfBalance, [])
  return rows.map(({ cost }) => Number(cost))
})

for (const synchronous of ["full", "normal"]) {
  it.live(`with ${synchronous}, a call is settled in the files when its response arrives`, () =>
    Effect.gen(function* () {
      const usage = { prompt_tokens: 2, total_tokens: 2 }
      const { server } = yield* startPaidServer((response) => json(response, vectors(usage)), {
        SLUICE_SYNCHRONOUS: synchronous
      })
      const copies: Array<string> = []
      for (const _ of ["first", "second", "third"]) {
        const copy = yield* temporaryFolder
        const { status } = yield* server.call("/v1/embeddings", { json: embed })
        copyDatabase(server.data, copy)
        assert.strictEqual(status, 200)
        copies.push(copy)
      }
      for (const [at, copy] of copies.entries()) {
        const paid = yield* Effect.provide(settled, ledgerIn(copy, {}))
        assert.deepStrictEqual(paid, Array(at + 1).fill(2))
      }
    }).pipe(Effect.scoped)
  )
}
