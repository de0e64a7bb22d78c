/** The library of the data folder, opened with the models that the environment names: what the server opens too. */
import { Library, type LibraryService } from "@sluice/rag"
import { Effect, Layer, type Option } from "effect"
import { join } from "node:path"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { NarrowLayer } from "../../providers/Models.ts"
import * as Settings from "./Settings.ts"

/** What the environment and the flags say, and the models that they name. */
export const modelsOf = (data: Option.Option<string>) =>
  NarrowLayer.pipe(Layer.provideMerge(ServerConfig.layer), Layer.provide(Settings.layer({ data })))

/** Opens the library for as long as `use` runs. */
export const withLibrary = <A, E, R>(
  data: Option.Option<string>,
  use: (library: LibraryService) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const config = yield* ServerConfig
    return yield* use(yield* Library.open(join(config.data, "library")))
  }).pipe(Effect.scoped, Effect.provide(modelsOf(data)))
