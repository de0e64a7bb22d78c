/** Flags that stand for environment variables. A flag wins over the variable; both are read in one place, Config.ts. */
import { ConfigProvider, type Layer, Option } from "effect"
import { Flag } from "effect/cli"

/** The folder of the library, for every command. */
export const data = Flag.Directory("data").pipe(
  Flag.withDescription("Folder of the library. Default: SLUICE_DATA, else .sluice"),
  Flag.optional
)

/** Puts what the flags say before the environment. */
export const layer = (flags: {
  readonly data: Option.Option<string>
  readonly port?: Option.Option<number>
  readonly host?: Option.Option<string>
}): Layer.Layer<never> => {
  const said = {
    SLUICE_DATA: Option.getOrUndefined(flags.data),
    PORT: Option.getOrUndefined(flags.port ?? Option.none())?.toString(),
    HOST: Option.getOrUndefined(flags.host ?? Option.none())
  }
  const present = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
  return ConfigProvider.layerAdd(ConfigProvider.fromUnknown(present), { asPrimary: true })
}
