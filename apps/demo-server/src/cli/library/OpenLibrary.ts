/** Opens the library of the data folder with the same models as the server. */
import { Library, type LibraryService } from "@sluice/rag"
import { ConfigProvider, Effect, Layer, Option, Record } from "effect"
import { join } from "node:path"
import { ServerConfig } from "../../config/ServerConfig.ts"
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

/** The configuration and the models that it names. */
export const modelsLayer = (data: Option.Option<string>) =>
  LibraryModelsLayer.pipe(Layer.provideMerge(ServerConfig.layer), Layer.provide(settingsLayer({ data })))

/** Opens the library for as long as `use` runs. */
export const withLibrary = <Eff extends Effect.Effect<unknown, unknown, unknown>, A>(
  data: Option.Option<string>,
  use: (library: LibraryService) => Generator<Eff, A, never>
) =>
  Effect.gen(function* () {
    const config = yield* ServerConfig
    const library = yield* Library.open(join(config.data, "library"))
    return yield* Effect.gen(() => use(library))
  }).pipe(Effect.scoped, Effect.provide(modelsLayer(data)))
