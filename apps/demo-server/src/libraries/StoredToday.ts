/** Bytes that were stored today (UTC) in a user's library, by all servers of the database. */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { oneNumber } from "../sql/Rows.ts"

const today = Effect.map(Clock.currentTimeMillis, (now) =>
  Math.floor(now / Duration.toMillis(Duration.days(1)))
)

export const makeStoredToday = Effect.map(SqlClient.SqlClient, (sql) => {
  const ofDay = (day: number) => sql`CASE WHEN stored_day = ${day} THEN stored_today ELSE 0 END`
  return {
    of: (user: string) =>
      Effect.flatMap(today, (day) => oneNumber(sql`SELECT ${ofDay(day)} AS n FROM users WHERE id = ${user}`)),
    /** Documents that are on disk stay, also if the database cannot count them. */
    add: (user: string, bytes: number) =>
      Effect.flatMap(
        today,
        (day) =>
          sql`UPDATE users SET stored_today = ${ofDay(day)} + ${bytes}, stored_day = ${day} WHERE id = ${user}`
      ).pipe(
        Effect.catchCause((cause) => Effect.logWarning("Stored bytes were not counted", cause)),
        Effect.asVoid
      )
  }
})
