/** Writes connections into the providers' file, and typed keys into files that only this user can read. */
import type { ApiKey } from "@sluice/core"
import { Effect, FileSystem, Path, Redacted, Schema, Semaphore, Struct } from "effect"
import { writePrivately } from "../config/PrivateFile.ts"
import { ConnectionId } from "../contract/Connections.ts"
import {
  decodeProvidersFile,
  missingLibraryModel,
  type ProvidersFile,
  type UpstreamEntry
} from "../providers/ProvidersFile.ts"
import {
  connectionsFolder,
  loadProvidersSettings,
  providersPlace,
  readProviders
} from "../providers/ProvidersSettings.ts"
import type { Provider } from "../routing/Provider.ts"
import { unlistedModels } from "../routing/Providers.ts"
import { keptOf } from "./VendorConnection.ts"

const NOT_WITH_GATEWAY =
  "SLUICE_GATEWAY_URL configures the models. Unset it and start again, then connect the gateway here"

/** Runs a change of files. If it fails, the files are as before. */
const orRestore = <A, E, R>(files: ReadonlyArray<string>, change: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const before = yield* Effect.forEach(files, (file) =>
      Effect.orElseSucceed(fs.readFileString(file), () => undefined)
    )
    const restore = Effect.forEach(files, (file, at) => {
      const text = before[at]
      return Effect.ignore(text === undefined ? fs.remove(file) : writePrivately(file, text))
    })
    return yield* Effect.onError(change, () => restore)
  })

/** The name of an upstream. */
export const idOf = ({ dialect, id = dialect }: UpstreamEntry) => id ?? ""

/** The file's content, with the library's models named. */
const readContent = Effect.fnUntraced(function* (file: string) {
  const { content, forLibrary } = yield* readProviders(file)
  if (content.library !== undefined || !forLibrary) return content
  const { isLibraryUnlisted, library, upstreams } = yield* loadProvidersSettings(file)
  return isLibraryUnlisted ? yield* Effect.fail(unlistedModels(upstreams)) : { ...content, library }
})

/** The file that connections are written to. */
export const connectionsFile = Effect.flatMap(
  Effect.mapError(providersPlace, ({ message }) => message),
  (place) => (typeof place === "string" ? Effect.succeed(place) : Effect.fail(NOT_WITH_GATEWAY))
)

/** The file of a typed key. Earlier versions named it with `_` for `:`; that name stays while the entry has it. */
const keyFileOf = Effect.fnUntraced(function* (id: string, { upstreams = [] }: ProvidersFile, file: string) {
  const path = yield* Path.Path
  const folder = yield* connectionsFolder
  if (!Schema.is(ConnectionId)(id)) return yield* Effect.fail(`${JSON.stringify(id)} cannot be a name`)
  const earlier = path.join(folder, `${id.replaceAll(":", "_")}.key`)
  const saved = upstreams.find((one) => idOf(one) === id)?.apiKey?.file
  const isEarlier = saved !== undefined && path.resolve(path.dirname(file), saved) === earlier
  return isEarlier ? earlier : path.join(folder, `${encodeURIComponent(id)}.key`)
})

/** A change that failed would restore the file as it was before another one. */
const oneAtATime = Semaphore.makeUnsafe(1)

/** Changes the file. `apply` then uses it: if that fails, the file is as before. The error is a sentence. */
const changeFile = <E, R>(
  id: string,
  prepare: (content: ProvidersFile, file: string, keyFile: string) => Effect.Effect<ProvidersFile, E, R>,
  apply: Effect.Effect<void, string>
) =>
  Effect.gen(function* () {
    const file = yield* connectionsFile
    const before = yield* readContent(file)
    const keyFile = yield* keyFileOf(id, before, file)
    const change = Effect.gen(function* () {
      const text = `${JSON.stringify(yield* prepare(before, file, keyFile), undefined, 2)}\n`
      yield* decodeProvidersFile(text)
      yield* writePrivately(file, text)
      yield* apply
    })
    yield* orRestore([file, keyFile], change)
    return file
  }).pipe(
    oneAtATime.withPermit,
    Effect.mapError((error) =>
      typeof error === "string"
        ? error
        : `It was not saved: ${(error as { readonly message: string }).message}`
    )
  )

interface SavedConnection {
  readonly id: string
  readonly entry: UpstreamEntry
  /** A key to keep in a file. */
  readonly typed?: ApiKey | undefined
  /** Models for the library. Those that are not named stay as they are. */
  readonly library: NonNullable<ProvidersFile["library"]>
}

/** Adds an upstream, or replaces what it says about the upstream with this id. Everything else in the file stays. */
export const saveConnection = Effect.fn("connect.save")(function* (
  { entry, id, library, typed }: SavedConnection,
  apply: Effect.Effect<void, string> = Effect.void
) {
  const path = yield* Path.Path
  return yield* changeFile(
    id,
    Effect.fnUntraced(function* (content, file, keyFile) {
      const { upstreams = [] } = content
      if (typed !== undefined) yield* writePrivately(keyFile, `${Redacted.value(typed)}\n`)
      const place = typed && { apiKey: { file: path.relative(path.dirname(file), keyFile) } }
      const saved = upstreams.find((one) => idOf(one) === id)
      const next = { ...Struct.omit(keptOf(saved, entry), ["url", "apiKey"]), ...entry, ...place }
      const named = { ...content.library, ...library }
      return {
        ...content,
        upstreams:
          saved === undefined ? [...upstreams, next] : upstreams.map((one) => (one === saved ? next : one)),
        ...(Object.keys(named).length > 0 && { library: named })
      }
    }),
    apply
  )
})

/** Removes an upstream, its typed key, and the library's models that none of `others` serves. */
export const removeConnection = Effect.fn("connect.remove")(function* (
  id: string,
  others: ReadonlyArray<Pick<Provider, "models">>,
  apply: Effect.Effect<void, string>
) {
  const fs = yield* FileSystem.FileSystem
  return yield* changeFile(
    id,
    Effect.fnUntraced(function* (content, _, keyFile) {
      yield* Effect.ignore(fs.remove(keyFile))
      const upstreams = (content.upstreams ?? []).filter((one) => idOf(one) !== id)
      const { library = {} } = content
      const served = Struct.keys(library).filter(
        (use) => missingLibraryModel(Struct.pick(library, [use]), others) === undefined
      )
      return { ...content, upstreams, library: Struct.pick(library, served) }
    }),
    apply
  )
})

/** The set of local models that embeds and reranks, in place of models that vendors serve. Undefined: none. */
export const saveLocalModels = Effect.fn("connect.saveLocalModels")(function* (
  set: string | undefined,
  apply: Effect.Effect<void, string>
) {
  return yield* changeFile(
    "local-models",
    (content) =>
      Effect.succeed(
        set === undefined
          ? Struct.omit(content, ["localModels"])
          : {
              ...content,
              localModels: set,
              ...(content.library && { library: Struct.omit(content.library, ["embedding", "rerank"]) })
            }
      ),
    apply
  )
})
