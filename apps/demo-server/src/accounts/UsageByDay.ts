/** `GET /api/usage`: a user's usage and cost by day and model. */
import { Principal } from "@sluice/core/contract"
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { HttpApiBuilder } from "effect/http-api"
import { userNotFound, notAdmin } from "./Administration.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { Users } from "./Users.ts"
import { wrapData } from "../contract/Administration.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { Integer } from "../sql/Integer.ts"
import { tableRows } from "../sql/Rows.ts"

const DAYS = 30
const DAY_MS = 86_400_000

const { rows: dayRows } = tableRows(
  Schema.Struct({
    day: Integer,
    model: Schema.String,
    operation: Schema.String,
    calls: Integer,
    input_tokens: Integer,
    output_tokens: Integer,
    quota: Integer
  })
)

const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

export const UsageLayer = HttpApiBuilder.group(
  ServedApi,
  "usage",
  Effect.fn(function* (handlers) {
    const sql = yield* SqlClient.SqlClient
    const users = yield* Users
    const dayMs = sql.literal(String(DAY_MS))
    return handlers.handleAll({
      usage: Effect.fn("usage.usage")(function* ({ query: { days = DAYS, user: requested } }) {
        const { user: self } = yield* Principal
        const user = requested ?? self
        if (user !== self) {
          if ((yield* catchSqlError(users.get(self)))?.role !== "admin") return yield* notAdmin
          if ((yield* catchSqlError(users.get(user))) === undefined) return yield* userNotFound("user")
        }
        const today = Math.floor((yield* Clock.currentTimeMillis) / DAY_MS)
        const query = sql`SELECT created_at / ${dayMs} AS day, model, operation,
            COUNT(*) AS calls, SUM(input_tokens) AS input_tokens, SUM(output_tokens) AS output_tokens,
            SUM(cost) AS quota
          FROM charges
          WHERE user_id = ${user} AND created_at >= ${(today - days + 1) * DAY_MS} AND state = 'settled'
          GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`
        const data = yield* catchSqlError(dayRows(query))
        return wrapData(data.map(({ day, ...usage }) => ({ day: dateOf(day), ...usage })))
      })
    })
  })
)
