/** Environment variables from files, as containers mount secrets: `NAME_FILE` is the path of a file with the value of `NAME`. */
import { ConfigProvider, Effect } from "effect"
import { readFile } from "node:fs/promises"

const readSecret = (name: string, path: string) =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) =>
      new ConfigProvider.SourceError({ message: `${name}_FILE names a file that cannot be read`, cause })
  })

/** Fails where both are set: it is not clear which one counts. */
const fromFile = (provider: ConfigProvider.ConfigProvider, name: string) =>
  Effect.gen(function* () {
    const [value, file] = yield* Effect.all([provider.load([name]), provider.load([`${name}_FILE`])])
    if (file?.value === undefined) return value
    if (value?.value !== undefined) {
      return yield* new ConfigProvider.SourceError({
        message: `${name} and ${name}_FILE are both set. Unset one`
      })
    }
    return ConfigProvider.makeValue((yield* readSecret(name, file.value)).trim())
  })

/** The provider, which reads each of `names` also from its file. */
export const withVariableFiles = (
  provider: ConfigProvider.ConfigProvider,
  names: ReadonlySet<string>
): ConfigProvider.ConfigProvider =>
  ConfigProvider.make((path) => {
    const [name, ...rest] = path
    return typeof name === "string" && rest.length === 0 && names.has(name)
      ? fromFile(provider, name)
      : provider.load(path)
  })
