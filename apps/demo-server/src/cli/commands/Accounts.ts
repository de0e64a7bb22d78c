/** `sluice accounts copy`: from the file in the data folder into a PostgreSQL, for a server that is to share it. */
import { Context, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { SqlClient, SqlError } from "effect/sql"
import { copyAccounts } from "../../database/CopyAccounts.ts"
import { DatabaseLayer } from "../../database/Database.ts"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { StartError } from "../../config/StartError.ts"
import { json, print } from "../output/Output.ts"
import * as Settings from "../library/Settings.ts"

const render = (counts: Readonly<Record<string, number>>): string =>
  [
    ...Object.entries(counts).map(([table, rows]) => `${table.padEnd(14)} ${rows}`),
    "Copied. A server with SLUICE_DATABASE_URL goes on with them; the file stays as it was, and is not read any more."
  ].join("\n")

const copy = Command.make("copy", { data: Settings.data, json }, ({ data, json }) =>
  Effect.gen(function* () {
    const config = yield* ServerConfig
    if (config.database === undefined) {
      return yield* new StartError({ message: "SLUICE_DATABASE_URL is not set: it names where to copy to" })
    }
    const opened = (database: ServerConfig["Service"]["database"]) =>
      Layer.build(
        Layer.provide(Layer.fresh(DatabaseLayer), Layer.succeed(ServerConfig, { ...config, database }))
      )
    const from = yield* opened(undefined)
    const to = yield* opened(config.database)
    const counts = yield* copyAccounts(
      Context.get(from, SqlClient.SqlClient),
      Context.get(to, SqlClient.SqlClient)
    ).pipe(
      Effect.mapError((error) =>
        SqlError.isSqlError(error)
          ? new StartError({
              message: `The accounts were not copied: ${error.reason.message ?? error.message}`
            })
          : error
      )
    )
    yield* print(json, counts, () => render(counts))
  }).pipe(Effect.scoped, Effect.provide(Layer.provide(ServerConfig.layer, Settings.layer({ data }))))
).pipe(
  Command.withDescription(
    "Copy the accounts of the data folder into the empty PostgreSQL of SLUICE_DATABASE_URL. Stop the server first"
  )
)

export const accounts = Command.make("accounts").pipe(
  Command.withDescription("Move users, keys and balances to a database"),
  Command.withSubcommands([copy])
)
