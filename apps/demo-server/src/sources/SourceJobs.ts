/** The jobs of a source, in the table of all jobs. */
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { JobSource } from "../jobs/JobTable.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"

const decodeSource = Schema.decodeUnknownSync(Schema.fromJsonString(JobSource))

export const makeSourceJobs = Effect.map(SqlClient.SqlClient, (sql) => {
  const unended = (id: string) => sql`source LIKE ${`{"id":"${id}"%`} AND status IN ('queued', 'running')`
  return {
    /** The paths of each job that reads changes, without jobs that nobody has renewed since then. */
    changes: (id: string, aliveSince: number) =>
      Effect.map(
        sql<{ readonly source: string }>`SELECT source FROM jobs WHERE ${unended(id)}
          AND (status = 'queued' OR updated_at > ${aliveSince})`,
        (rows) =>
          rows.flatMap(({ source }) => {
            const { paths } = decodeSource(source)
            return paths === undefined ? [] : [paths]
          })
      ),
    cancel: (id: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        catchSqlError(sql`UPDATE jobs SET status = 'cancelled', updated_at = ${now} WHERE ${unended(id)}`)
      )
  }
})
