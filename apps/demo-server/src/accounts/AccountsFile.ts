/**
 * `accounts.json` in the data folder.
 *
 * Format 1 has the hashes of the one key and token, and the sessions. Format 2 only marks that the accounts are in
 * `accounts.db`, so that versions which know format 1 reject the folder.
 */
import { Effect, FileSystem, Path, type PlatformError, Schema } from "effect"
import { dataFolderError, StartError } from "../config/StartError.ts"

/** In a data folder that is being restored. Until it is removed, files of two states may be mixed. */
export const RESTORING = ".restoring"

/** The format of the marker. */
const FORMAT = 2

const Sha256 = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

/** Format 1. */
const LegacyAccounts = Schema.Struct({
  format: Schema.Literal(1),
  apiKey: Sha256,
  accessToken: Sha256,
  /** `expires` is in epoch milliseconds. */
  sessions: Schema.Array(Schema.Struct({ token: Sha256, expires: Schema.Int }))
})
type LegacyAccounts = typeof LegacyAccounts.Type

const Mark = Schema.Struct({ format: Schema.Literal(FORMAT), store: Schema.Literal("accounts.db") })
const mark: typeof Mark.Type = { format: FORMAT, store: "accounts.db" }

const decodeFormat = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ format: Schema.Int })))
const decodeLegacy = Schema.decodeUnknownEffect(Schema.fromJsonString(LegacyAccounts))
const isMark = (text: string) => Schema.is(Mark)(JSON.parse(text))

export const newerVersion = (folder: string) =>
  new StartError({
    message: `The data folder ${folder} was created by a newer version of Sluice. Update, or set SLUICE_DATA to another folder`
  })

/**
 * Creates a folder, given by its absolute path, and its missing parents, readable only by their owner.
 *
 * One level at a time, because Node's recursive `mkdir` never returns on file systems such as `/proc` that reject new
 * folders with ENOENT.
 */
const makePrivateFolder = (
  folder: string
): Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const isFolder = fs.stat(folder).pipe(
      Effect.map(({ type }) => type === "Directory"),
      Effect.orElseSucceed(() => false)
    )
    if (yield* isFolder) return
    const parent = path.dirname(folder)
    if (parent !== folder) yield* makePrivateFolder(parent)
    // Another process may have created it meanwhile.
    yield* fs
      .makeDirectory(folder, { mode: 0o700 })
      .pipe(
        Effect.catch((error) =>
          Effect.flatMap(isFolder, (exists) => (exists ? Effect.void : Effect.fail(error)))
        )
      )
  })

/** Opens or creates the data folder. Returns the accounts of format 1, to be migrated. */
export const openDataFolder = Effect.fn("AccountsFile.open")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, "accounts.json")
  const damaged = () =>
    new StartError({
      message: `${file} is damaged. Remove it. If accounts.db is missing too, the next start creates a new API key and access token`
    })
  return yield* Effect.gen(function* () {
    yield* makePrivateFolder(folder)
    if (yield* fs.exists(path.join(folder, RESTORING)))
      return yield* new StartError({
        message: `The data folder ${folder} is being restored, or its restore was interrupted. Wait for it, or run \`sluice restore BACKUP --replace\` again`
      })
    if (!(yield* fs.exists(file))) return undefined
    const text = yield* fs.readFileString(file)
    const { format } = yield* Effect.mapError(decodeFormat(text), damaged)
    if (format >= FORMAT) return isMark(text) ? undefined : yield* newerVersion(folder)
    return yield* Effect.mapError(decodeLegacy(text), damaged)
  }).pipe(Effect.catchTag("PlatformError", (error) => Effect.fail(dataFolderError(folder)(error))))
})

/** Writes the marker, atomically. */
export const markMoved = Effect.fn("AccountsFile.mark")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, "accounts.json")
  yield* fs.writeFileString(`${file}.new`, JSON.stringify(mark), { mode: 0o600 })
  yield* fs.rename(`${file}.new`, file)
})
