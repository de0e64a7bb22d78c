/** `sluice backup` and `sluice restore`: copies of the data folder and its accounts. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { createBackup } from "../../backup/Backup.ts"
import { type BackupManifest, CONFIGURATION } from "../../backup/BackupManifest.ts"
import { openBackup, restoreBackup } from "../../backup/Restore.ts"
import { booleanFlag, dataFlag, examples, jsonFlag } from "../library/Flags.ts"
import { configLayer } from "../library/OpenLibrary.ts"
import { printResult } from "../output/Output.ts"

const summaryOf = ({ files, made, secrets, sluice }: BackupManifest) => {
  const hasConfiguration = files.some(({ path }) => path.startsWith(`${CONFIGURATION}/`))
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  return { made, sluice, files: files.length, bytes, secrets, hasConfiguration }
}

const renderSize = ({ bytes, files }: ReturnType<typeof summaryOf>) =>
  `${files} files, ${(bytes / 1e6).toFixed(1)} MB`

export const backupCommand = Command.make(
  "backup",
  {
    target: Argument.String("target").pipe(
      Argument.withDescription("A new folder, or a new file that ends in .tar, .tar.gz or .tgz")
    ),
    data: dataFlag,
    secrets: booleanFlag("secrets", "Include the keys of connected models and the credentials of sources"),
    json: jsonFlag
  },
  ({ data, json, secrets, target }) =>
    Effect.gen(function* () {
      const made = yield* createBackup(target, { secrets })
      const summary = summaryOf(made.manifest)
      yield* printResult(json, { target: made.target, ...summary }, () =>
        [
          `Backed up to ${made.target}: ${renderSize(summary)}.`,
          secrets
            ? "It has the keys of connected models. Keep it private."
            : "It does not have the keys of connected models. Add --secrets to include them."
        ].join("\n")
      )
    }).pipe(Effect.provide(configLayer({ data })))
).pipe(
  Command.withDescription(
    "Back up the data folder and its accounts, in SQLite or PostgreSQL. The server may be running"
  ),
  examples({
    "sluice backup /backups/monday": "Back up to a new folder",
    "sluice backup /backups/monday.tar.gz --secrets": "Back up to one file, with keys"
  })
)

export const restoreCommand = Command.make(
  "restore",
  {
    backup: Argument.String("backup").pipe(Argument.withDescription("A folder or file of `sluice backup`")),
    data: dataFlag,
    replace: booleanFlag("replace", "Delete what the data folder has"),
    verify: booleanFlag("verify", "Check every file of the backup, and change nothing"),
    json: jsonFlag
  },
  ({ backup, data, json, replace, verify }) =>
    Effect.gen(function* () {
      const opened = yield* openBackup(backup)
      const summary = summaryOf(opened.manifest)
      const about = `${renderSize(summary)}, made at ${summary.made} by Sluice ${summary.sluice}`
      if (verify)
        return yield* printResult(
          json,
          { verified: true, ...summary },
          () => `The backup is whole: ${about}.`
        )
      const restored = yield* restoreBackup(opened, { replaces: replace })
      yield* printResult(json, { data: restored.data, ...summary }, () =>
        [
          `Restored ${restored.data}: ${about}.`,
          ...(summary.hasConfiguration
            ? [`Files from outside the data folder are in \`${CONFIGURATION}\` of the backup.`]
            : [])
        ].join("\n")
      )
    }).pipe(Effect.scoped, Effect.provide(configLayer({ data })))
).pipe(
  Command.withDescription(
    "Restore a backup into an empty data folder and, with SLUICE_DATABASE_URL, an empty PostgreSQL database"
  ),
  examples({
    "sluice restore /backups/monday --data /var/lib/sluice": "Restore into an empty folder",
    "sluice restore /backups/monday.tar.gz --verify": "Check a backup"
  })
)
