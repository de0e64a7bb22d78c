/** `sluice doctor`: checks the accounts of a data folder. */
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { StartError } from "../../config/StartError.ts"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { accountFaults } from "../../database/AccountFaults.ts"
import { DatabaseLayer } from "../../database/Database.ts"
import { dataFlag, jsonFlag } from "../library/Flags.ts"
import { settingsLayer } from "../library/OpenLibrary.ts"
import { printResult, setExitCode } from "../output/Output.ts"

export const doctorCommand = Command.make("doctor", { data: dataFlag, json: jsonFlag }, ({ data, json }) =>
  Effect.gen(function* () {
    const faults = yield* Effect.mapError(
      accountFaults,
      ({ message }) => new StartError({ message: `The accounts cannot be read: ${message}` })
    )
    const found = [...faults.file, ...faults.ledger]
    yield* printResult(json, { accounts: faults }, () =>
      found.length === 0 ? "The accounts are whole, and every balance adds up." : found.join("\n")
    )
    if (found.length > 0) yield* setExitCode
  }).pipe(
    Effect.provide(
      DatabaseLayer.pipe(Layer.provide(Layer.provide(ServerConfig.layer, settingsLayer({ data }))))
    )
  )
).pipe(
  Command.withDescription(
    "Check the accounts: whether the file is damaged, and whether every balance adds up. Stop the server first"
  )
)
