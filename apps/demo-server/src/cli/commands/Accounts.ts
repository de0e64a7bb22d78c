/** `sluice accounts copy`: copies the accounts from SQLite to PostgreSQL. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { copyAccounts } from "../../database/CopyAccounts.ts"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { StartError } from "../../config/StartError.ts"
import { dataFlag, jsonFlag } from "../library/Flags.ts"
import { configLayer } from "../library/OpenLibrary.ts"
import { printResult } from "../output/Output.ts"

const render = (counts: Readonly<Record<string, number>>): string =>
  [
    ...Object.entries(counts).map(([table, rows]) => `${table.padEnd(14)} ${rows}`),
    "Copied. A server with SLUICE_DATABASE_URL uses the copy. The SQLite file is unchanged and no longer read."
  ].join("\n")

const copyCommand = Command.make("copy", { data: dataFlag, json: jsonFlag }, ({ data, json }) =>
  Effect.gen(function* () {
    const { database, data: folder } = yield* ServerConfig
    if (database === undefined) {
      return yield* new StartError({
        message: "SLUICE_DATABASE_URL is not set. Set it to the PostgreSQL database to copy to."
      })
    }
    const counts = yield* copyAccounts(folder, "copied")
    yield* printResult(json, counts, () => render(counts))
  }).pipe(Effect.provide(configLayer({ data })))
).pipe(
  Command.withDescription(
    "Copy the accounts from the data folder to the empty PostgreSQL database in SLUICE_DATABASE_URL. Stop the server first"
  )
)

export const accountsCommand = Command.make("accounts").pipe(
  Command.withDescription("Copy users, keys and balances to another database"),
  Command.withSubcommands([copyCommand])
)
