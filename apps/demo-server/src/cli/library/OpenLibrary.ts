/** Opens the library of the data folder with the same models as the server. */
import { Library, type LibraryService } from "@sluice/rag"
import { ConfigProvider, Effect, Layer, Option } from "effect"
import { Flag } from "effect/cli"
import { join } from "node:path"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { NarrowLayer } from "../../providers/Models.ts"

export const dataFlag = Flag.Directory("data").pipe(
  Flag.withDescription("Library folder. Default: SLUICE_DATA, else .sluice"),
  Flag.optional
)

/** Flags that override environment variables. Config.ts reads both. */
export const settingsLayer = (flags: {
  readonly data: Option.Option<string>
  readonly port?: Option.Option<number>
  readonly host?: Option.Option<string>
}): Layer.Layer<never> => {
  const values = {
    SLUICE_DATA: Option.getOrUndefined(flags.data),
    PORT: Option.getOrUndefined(flags.port ?? Option.none())?.toString(),
    HOST: Option.getOrUndefined(flags.host ?? Option.none())
  }
  const present = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
  return ConfigProvider.layerAdd(ConfigProvider.fromUnknown(present), { asPrimary: true })
}

/** The configuration and the models that it names. */
export const modelsLayer = (data: Option.Option<string>) =>
  NarrowLayer.pipe(Layer.provideMerge(ServerConfig.layer), Layer.provide(settingsLayer({ data })))

/** Opens the library for as long as `use` runs. */
export const withLibrary = <A, E, R>(
  data: Option.Option<string>,
  use: (library: LibraryService) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const config = yield* ServerConfig
    return yield* use(yield* Library.open(join(config.data, "library")))
  }).pipe(Effect.scoped, Effect.provide(modelsLayer(data)))
