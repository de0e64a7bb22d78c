/**
 * `accounts.json` of the data folder: what earlier versions kept of the accounts, and since then a mark.
 *
 * Format 1 held the hashes of the one key and token, and the sessions. Format 2 says that they are in `accounts.db`, so
 * that an earlier version which is started on the folder refuses it.
 */
import { Effect, FileSystem, Path, Schema } from "effect"
import { makeFolder } from "../config/DataFolder.ts"
import { dataFolderError, StartError } from "../config/StartError.ts"

/** The format of the mark. */
const FORMAT = 2

const Sha256 = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

/** What version 1 kept. */
const LegacyAccounts = Schema.Struct({
  format: Schema.Literal(1),
  apiKey: Sha256,
  accessToken: Sha256,
  /** Sessions of the page; `expires` in epoch milliseconds. */
  sessions: Schema.Array(Schema.Struct({ token: Sha256, expires: Schema.Int }))
})
export type LegacyAccounts = typeof LegacyAccounts.Type

const Mark = Schema.Struct({ format: Schema.Literal(FORMAT), store: Schema.Literal("accounts.db") })
const mark: typeof Mark.Type = { format: FORMAT, store: "accounts.db" }

const decodeFormat = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ format: Schema.Int })))
const decodeLegacy = Schema.decodeUnknownEffect(Schema.fromJsonString(LegacyAccounts))
const isMark = (text: string) => Schema.is(Mark)(JSON.parse(text))

export const newerVersion = (folder: string) =>
  new StartError({
    message: `The data folder ${folder} was made by a newer version of Sluice: update, or set SLUICE_DATA to another folder`
  })

/** Opens the data folder (made if it is not there), and reads what an earlier version left to be taken over. */
export const openDataFolder = Effect.fn("AccountsFile.open")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, "accounts.json")
  const damaged = () =>
    new StartError({
      message: `${file} is damaged: remove it. Without accounts.db beside it, a new API key and access token are made at the next start`
    })
  return yield* Effect.gen(function* () {
    yield* makeFolder(folder)
    if (!(yield* fs.exists(file))) return undefined
    const text = yield* fs.readFileString(file)
    const { format } = yield* Effect.mapError(decodeFormat(text), damaged)
    if (format >= FORMAT) return isMark(text) ? undefined : yield* newerVersion(folder)
    return yield* Effect.mapError(decodeLegacy(text), damaged)
  }).pipe(Effect.catchTag("PlatformError", (error) => Effect.fail(dataFolderError(folder)(error))))
})

/** Writes the mark, whole or not at all. */
export const markMoved = Effect.fn("AccountsFile.mark")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, "accounts.json")
  yield* fs.writeFileString(`${file}.new`, JSON.stringify(mark), { mode: 0o600 })
  yield* fs.rename(`${file}.new`, file)
})
