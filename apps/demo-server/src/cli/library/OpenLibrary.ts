/** Opens the library of the data folder with the same models as the server. */
import { Library, type LibraryService, RagError } from "@sluice/rag"
import { LanceIndex, PassageIndex } from "@sluice/rag/store"
import { ConfigProvider, Effect, FileSystem, Layer, Option, Record } from "effect"
import { OWNER } from "../../accounts/Owner.ts"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { isStoreAddress, storeOptions } from "../../config/DocumentStore.ts"
import { libraryOf } from "../../libraries/LibraryFolders.ts"
import { COLLECTION_NAME, DEFAULT_COLLECTION } from "../../contract/Names.ts"
import { LibraryModelsLayer } from "../../providers/LibraryModels.ts"

/** Flags that override environment variables. `ServerConfig` reads both. */
export const settingsLayer = (flags: {
  readonly data: Option.Option<string>
  readonly port?: Option.Option<number>
  readonly host?: Option.Option<string>
}): Layer.Layer<never> => {
  const { data, host = Option.none(), port = Option.none() } = flags
  const values = Record.getSomes({ SLUICE_DATA: data, PORT: Option.map(port, String), HOST: host })
  return ConfigProvider.layerAdd(ConfigProvider.fromUnknown(values), { asPrimary: true })
}

export const configLayer = (flags: Parameters<typeof settingsLayer>[0]) =>
  Layer.provide(ServerConfig.layer, settingsLayer(flags))

/** The configuration and the models that it names. */
export const modelsLayer = (data: Option.Option<string>) =>
  Layer.provideMerge(LibraryModelsLayer, configLayer({ data }))

/** What to do without a library: a command that only reads makes none. */
type WhenMissing = "create" | "fail" | "temporary"

/** What a command with `--docs` does without a library. */
export const whenMissing = (docs: Option.Option<string>): WhenMissing =>
  Option.isSome(docs) ? "create" : "fail"

/** The index of the owner's library. */
export const ownIndex = Layer.unwrap(
  Effect.map(ServerConfig, (settings) => LanceIndex.layer(libraryOf(settings, OWNER), storeOptions(settings)))
)

/** The collections of an index, by name. The default one is always among them. */
export const collectionsOf = ({ collections }: typeof PassageIndex.Service) =>
  Effect.map(collections, (names) => [...new Set([DEFAULT_COLLECTION, ...names])].toSorted())

/** The collections of the owner. */
export const collectionNames = Effect.provide(Effect.flatMap(PassageIndex, collectionsOf), ownIndex)

/** A command that only reads makes no collection. */
const checkCollection = Effect.fnUntraced(function* (name: string, missing: WhenMissing) {
  const problem = !COLLECTION_NAME.test(name)
    ? `--collection ${name} is not a name. Use 1 to 64 letters, digits, \`-\`, \`_\` and \`.\``
    : missing === "fail" && !(yield* collectionNames).includes(name)
      ? `There is no collection "${name}". \`sluice collections\` lists them`
      : undefined
  if (problem !== undefined)
    return yield* new RagError({ stage: "open", reason: "NotFound", message: problem, document: name })
})

const hasLibrary = Effect.gen(function* () {
  const settings = yield* ServerConfig
  const { exists } = yield* FileSystem.FileSystem
  return (
    isStoreAddress(settings.documents) ||
    (yield* Effect.orElseSucceed(exists(libraryOf(settings, OWNER)), () => false))
  )
})

/** Fails without a library. */
export const requireLibrary = Effect.gen(function* () {
  if (yield* hasLibrary) return
  const { documents } = yield* ServerConfig
  const message = `There is no library in ${documents}. Add documents with \`sluice ingest FOLDER\`, or correct --data.`
  return yield* new RagError({ stage: "open", reason: "NotFound", message })
})

/** Opens the library of the data folder. */
export const openLibrary = Effect.fn("cli.openLibrary")(function* (
  missing: WhenMissing,
  collection: Option.Option<string> = Option.none()
) {
  const settings = yield* ServerConfig
  const fs = yield* FileSystem.FileSystem
  if (missing === "fail") yield* requireLibrary
  if (Option.isSome(collection)) yield* checkCollection(collection.value, missing)
  if (missing === "temporary" && !(yield* hasLibrary))
    return yield* Library.open(yield* fs.makeTempDirectoryScoped())
  return yield* Library.open(libraryOf(settings, OWNER), {
    ...storeOptions(settings),
    ...(Option.isSome(collection) && { collection: collection.value })
  })
})

/** Opens the library for as long as `use` runs. */
export const withLibrary = <Eff extends Effect.Effect<unknown, unknown, unknown>, A>(
  {
    collection,
    data,
    missing = "fail"
  }: {
    readonly data: Option.Option<string>
    readonly missing?: WhenMissing
    readonly collection?: Option.Option<string>
  },
  use: (library: LibraryService) => Generator<Eff, A, never>
) =>
  Effect.gen(function* () {
    const library = yield* openLibrary(missing, collection)
    return yield* Effect.gen(() => use(library))
  }).pipe(Effect.scoped, Effect.provide(modelsLayer(data)))
