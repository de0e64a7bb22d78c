/** Environment variables from files, as containers mount secrets: `NAME_FILE` is the path of a file with the value of `NAME`. */
import { ConfigProvider, Effect } from "effect"
import { readFile } from "node:fs/promises"

const wrong = (message: string) => new ConfigProvider.SourceError({ message })

const readSecret = (name: string, path: string) =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) =>
      new ConfigProvider.SourceError({
        message: `${name}_FILE names a file that cannot be read: ${path}`,
        cause
      })
  })

/** A blank variable counts as unset, as elsewhere. */
const textOf = (node: ConfigProvider.Node | undefined) => (node?.value?.trim() ? node.value : undefined)

/** Fails where both are set, because it is not clear which one counts, and for an empty file. */
const fromFile = (provider: ConfigProvider.ConfigProvider, name: string) =>
  Effect.gen(function* () {
    const [value, file] = yield* Effect.all([provider.load([name]), provider.load([`${name}_FILE`])])
    const path = textOf(file)
    if (path === undefined) return value
    if (textOf(value) !== undefined) return yield* wrong(`${name} and ${name}_FILE are both set. Unset one`)
    const secret = (yield* readSecret(name, path)).trim()
    return secret === "" ? yield* wrong(`${name}_FILE names an empty file`) : ConfigProvider.makeValue(secret)
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
