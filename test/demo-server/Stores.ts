/** Runs the same tests on SQLite and PostgreSQL. */
import { beforeAll, describe } from "@effect/vitest"
import { Effect, Redacted, Scope } from "effect"
import { migrate } from "../../apps/demo-server/src/database/Migrations.ts"
import { layer } from "../../apps/demo-server/src/sql/Postgres.ts"
import { type Postgres, startPostgres, withoutPostgres } from "./Postgres.ts"

/** The environment for a server with a new database. In PostgreSQL it has the tables already. */
export type NewStore = Effect.Effect<Record<string, string>>

/** The address of a database as the first start makes it: once, because the migrations take as long as most tests. */
let migrated: Promise<string> | undefined
const makeMigrated = Effect.fnUntraced(function* ({ database }: Postgres) {
  const address = yield* database
  yield* migrate.pipe(Effect.provide(layer(Redacted.make(address))), Effect.scoped, Effect.orDie)
  return address
})

/** For a start on a busy machine. */
const PATIENCE = 60_000

/** One server for all tests of this process, each in a database of its own. It ends with the process. */
let shared: Promise<Postgres> | undefined
const startShared = () => (shared ??= Effect.runPromise(Scope.provide(startPostgres, Scope.makeUnsafe())))

/** A PostgreSQL for the tests within. Without one they are skipped, with the reason. */
export const onPostgres = (define: (postgres: Effect.Effect<Postgres>, store: NewStore) => void) => {
  const skipped = withoutPostgres === undefined ? "" : `, skipped: ${withoutPostgres}`
  // Skipped: if no PostgreSQL is installed, or none may run. The name has the reason.
  describe.skipIf(withoutPostgres !== undefined)(`on PostgreSQL${skipped}`, () => {
    beforeAll(startShared, PATIENCE)
    const postgres = Effect.promise(startShared)
    define(
      postgres,
      Effect.gen(function* () {
        const server = yield* postgres
        const source = yield* Effect.promise(() => (migrated ??= Effect.runPromise(makeMigrated(server))))
        return { SLUICE_DATABASE_URL: yield* server.copyOf(source) }
      })
    )
  })
}

const onSqlite = (define: (store: NewStore) => void) => {
  describe("on SQLite", () => {
    define(Effect.succeed({}))
  })
}

/** Defines the tests once for SQLite and once for PostgreSQL. */
export const onEachStore = (define: (store: NewStore) => void) => {
  onSqlite(define)
  onPostgres((_, store) => define(store))
}

/** Defines the tests for SQLite. The trials run such files on PostgreSQL (`TEST_STORE` in vitest.config.ts). */
export const onStore = (define: (store: NewStore) => void) => {
  if (process.env["TEST_STORE"] === "PostgreSQL") onPostgres((_, store) => define(store))
  else onSqlite(define)
}
