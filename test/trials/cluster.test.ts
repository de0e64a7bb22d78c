/** Two servers and a worker on one PostgreSQL and the small S3 server, each killed once under load. */
import { it } from "vitest"
import { seeded } from "../../bench/corpus/Random.ts"
import { withoutPostgres } from "../demo-server/Postgres.ts"
import { cluster } from "./cluster.ts"

// Skipped: if no PostgreSQL is installed, or none may run.
it.skipIf(withoutPostgres !== undefined)(
  "of servers and workers that are killed under load, nothing is lost and nothing is there twice",
  () => cluster({ servers: 2, workers: 1, kills: 3, documents: 20 })(seeded(7)),
  240_000
)
