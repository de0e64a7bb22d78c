/** What is kept of the accounts: hashes only, in one small file of the data folder, replaced whole. */
import { Effect, FileSystem, Path, Schema } from "effect"
import { dataFolderError, StartError } from "../StartError.ts"

/** The format written today; a higher one was written by a newer version. */
export const FORMAT = 1

const Sha256 = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

export const AccountsRecord = Schema.Struct({
  format: Schema.Literal(FORMAT),
  apiKey: Sha256,
  accessToken: Sha256,
  /** Sessions of the page; `expires` in epoch milliseconds. */
  sessions: Schema.Array(Schema.Struct({ token: Sha256, expires: Schema.Int }))
})
export type AccountsRecord = typeof AccountsRecord.Type

const decodeFormat = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ format: Schema.Int })))
const codec = Schema.fromJsonString(AccountsRecord)

/** Opens the data folder (made if it is not there) and reads `accounts.json` in it. */
export const openAccountsFile = Effect.fn("AccountsFile.open")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, "accounts.json")

  const save = Effect.fn("AccountsFile.save")(function* (record: AccountsRecord) {
    const text = yield* Effect.orDie(Schema.encodeEffect(codec)(record))
    const temporary = `${file}.new`
    yield* fs.writeFileString(temporary, text, { mode: 0o600 })
    yield* fs.rename(temporary, file)
  })

  const damaged = () =>
    new StartError({
      message: `${file} is damaged: remove it, and a new API key and access token are made at the next start`
    })

  const load = Effect.gen(function* () {
    yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
    if (!(yield* fs.exists(file))) return undefined
    const text = yield* fs.readFileString(file)
    const { format } = yield* Effect.mapError(decodeFormat(text), damaged)
    if (format > FORMAT) {
      return yield* new StartError({
        message: `The data folder ${folder} was made by a newer version of Sluice: update, or set SLUICE_DATA to another folder`
      })
    }
    return yield* Effect.mapError(Schema.decodeEffect(codec)(text), damaged)
  }).pipe(Effect.catchTag("PlatformError", (error) => Effect.fail(dataFolderError(folder)(error))))

  return { found: yield* load, save }
})
