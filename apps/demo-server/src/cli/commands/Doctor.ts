/** `sluice doctor`: checks the accounts and the libraries of a data folder. */
import { LanceIndex } from "@sluice/rag/store"
import { Effect, Layer, Record, Struct } from "effect"
import { Command } from "effect/cli"
import { lastBackup, requireDataFolder } from "../../backup/Backup.ts"
import { StartError } from "../../config/StartError.ts"
import { libraryFolders } from "../../libraries/LibraryFolders.ts"
import { accountFaults } from "../../database/AccountFaults.ts"
import { DatabaseLayer } from "../../database/Database.ts"
import { booleanFlag, dataFlag, jsonFlag } from "../library/Flags.ts"
import { configLayer } from "../library/OpenLibrary.ts"
import { printResult, setExitCode } from "../output/Output.ts"

const WHOLE = "The accounts and libraries are whole, and every balance adds up."
const NO_BACKUP = "There is no backup by `sluice backup`."
const REPAIRED = "What cannot be read was removed. Run it again to see what is left."
const DAMAGED = "Nothing was changed. Run it with --repair to remove what cannot be read."

/** Packages that are installed only by those who need them. */
const OPTIONAL_PACKAGES = {
  "@duckdb/node-api": "SQL over tables",
  "@huggingface/transformers": "neural models of this machine"
} as const

const isInstalled = (name: string): boolean => {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

const libraryFaults = Effect.fn("doctor.libraries")(function* (repair: boolean) {
  const faults = yield* Effect.forEach(yield* libraryFolders, ({ folder, user }) =>
    LanceIndex.repair(folder, repair).pipe(
      Effect.catch(({ message }) => Effect.succeed([message])),
      Effect.map((faults) => faults.map((fault) => `library of ${user}: ${fault}`))
    )
  )
  return faults.flat()
})

const repairFlag = booleanFlag(
  "repair",
  "Remove what is damaged in the libraries, so that the rest can be used. Copy the data folder before"
)

export const doctorCommand = Command.make(
  "doctor",
  { data: dataFlag, repair: repairFlag, json: jsonFlag },
  ({ data, json, repair }) =>
    Effect.gen(function* () {
      const accounts = yield* Effect.mapError(
        accountFaults,
        ({ message }) => new StartError({ message: `The accounts cannot be read: ${message}` })
      )
      const libraries = yield* libraryFaults(repair)
      const backup = yield* lastBackup
      const packages = Record.map(OPTIONAL_PACKAGES, (_, name) => isInstalled(name))
      const found = [...accounts.file, ...accounts.ledger, ...libraries]
      yield* printResult(
        json,
        { accounts, libraries, backup: backup ?? null, packages, repaired: repair && libraries.length > 0 },
        () =>
          [
            ...(found.length === 0 ? [WHOLE] : found),
            ...(libraries.length === 0 ? [] : [repair ? REPAIRED : DAMAGED]),
            backup === undefined
              ? NO_BACKUP
              : `The last backup was made at ${backup.made} to ${backup.target}.`,
            ...Struct.keys(OPTIONAL_PACKAGES).flatMap((name) =>
              packages[name]
                ? []
                : [`${name} is not installed. For ${OPTIONAL_PACKAGES[name]}: npm install ${name}`]
            )
          ].join("\n")
      )
      if (found.length > 0) yield* setExitCode
    }).pipe(
      Effect.provide(
        DatabaseLayer.pipe(
          Layer.provideMerge(Layer.effectDiscard(requireDataFolder)),
          Layer.provideMerge(configLayer({ data }))
        )
      )
    )
).pipe(
  Command.withDescription(
    "Check the data folder: whether the accounts and libraries are damaged, and whether every balance adds up. Stop the server first. It also names optional packages that are not installed"
  )
)
