/** Runs the same tests on SQLite and PostgreSQL. */
import { afterAll, beforeAll, describe } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { type Postgres, startPostgres, withoutPostgres } from "./Postgres.ts"

/** The environment for a server with a new database. */
export type NewStore = Effect.Effect<Record<string, string>>

/** For a start and a stop on a busy machine. */
const PATIENCE = 60_000

/** A PostgreSQL for the tests within. Without one they are skipped, with the reason. */
export const onPostgres = (define: (postgres: Effect.Effect<Postgres>, store: NewStore) => void) => {
  const skipped = withoutPostgres === undefined ? "" : `, skipped: ${withoutPostgres}`
  // Skipped: if no PostgreSQL is installed, or none may run. The name has the reason.
  describe.skipIf(withoutPostgres !== undefined)(`on PostgreSQL${skipped}`, () => {
    const scope = Scope.makeUnsafe()
    let started: Postgres | undefined
    beforeAll(async () => {
      started = await Effect.runPromise(Scope.provide(startPostgres, scope))
    }, PATIENCE)
    afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), PATIENCE)
    const postgres = Effect.suspend(() =>
      started === undefined ? Effect.die("PostgreSQL did not start") : Effect.succeed(started)
    )
    define(
      postgres,
      Effect.flatMap(postgres, ({ database }) =>
        Effect.map(database, (url) => ({ SLUICE_DATABASE_URL: url }))
      )
    )
  })
}

/** Defines the tests once for SQLite and once for PostgreSQL. */
export const onEachStore = (define: (store: NewStore) => void) => {
  describe("on SQLite", () => {
    define(Effect.succeed({}))
  })
  onPostgres((_, store) => define(store))
}
