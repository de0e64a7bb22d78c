/** Finds and reads `sluice.config.json` and the credentials that it refers to. */
import { withoutFinalSlash } from "@sluice/core/contract"
import { ApiKey, apiKey as makeApiKey } from "@sluice/core"
import { type Dialect, type DialectSettings, Dialects, gateway, preferredModels } from "@sluice/providers"
import { Array, Config, Duration, Effect, FileSystem, Path, Schema, Struct } from "effect"
import { type GatewaySettings, ServerConfig } from "../config/ServerConfig.ts"
import { StartError } from "../config/StartError.ts"
import { CIRCUIT_DEFAULTS } from "../routing/ProviderCircuits.ts"
import { responseTimeout, type ServedModel, type UpstreamSettings } from "../routing/UpstreamProvider.ts"
import { listedModels, type ModelListing, NAME_MODELS } from "./ListedModels.ts"
import {
  decodeProvidersFile,
  LIBRARY_OPERATIONS,
  type LibraryNames,
  missingLibraryModel,
  type ModelEntry,
  type ProvidersFile,
  type UpstreamEntry
} from "./ProvidersFile.ts"

/** The folder of the keys that `sluice connect` and the page write, and of the file if there is none elsewhere. */
export const connectionsFolder = Effect.map(Effect.all([ServerConfig, Path.Path]), ([{ data }, path]) =>
  path.join(data, "connections")
)

const FILE = "sluice.config.json"

/**
 * The absolute path of the file: the one that `SLUICE_CONFIG` names, the one in the working folder, or the one in the data
 * folder, which need not exist. With `SLUICE_GATEWAY_URL`, the settings of that gateway, and there is no file.
 */
export const providersPlace = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { gateway } = yield* ServerConfig
  const exists = (file: string) => Effect.orElseSucceed(fs.exists(file), () => false)
  const own = path.join(yield* connectionsFolder, FILE)
  const named = (yield* Effect.orElseSucceed(Config.String("SLUICE_CONFIG"), () => "")).trim()
  const first = path.resolve(named === "" ? FILE : named)
  const found = (yield* exists(first)) ? first : undefined
  if (named !== "" && found === undefined) {
    return yield* new StartError({ message: `SLUICE_CONFIG names ${first}, which does not exist` })
  }
  const file = found ?? own
  if (gateway === undefined) return file
  if (!(yield* exists(file))) return gateway
  return yield* new StartError({
    message: `${file} and SLUICE_GATEWAY_URL both configure providers. Add the gateway to the file as an upstream, or move the file away`
  })
})

const SHARE = { priority: 1, weight: 1 }
const TIMEOUT_SECONDS = 60

const read = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path)).pipe(
    Effect.mapError(({ reason }) => `it cannot be read (${reason._tag})`)
  )

type CredentialSource = NonNullable<UpstreamEntry["apiKey"]>

/** Reads a secret from its variable or file. The error names the place, not the secret. */
const readSecret = Effect.fnUntraced(function* ({ env, file }: CredentialSource, folder: string) {
  const path = yield* Path.Path
  return file === undefined
    ? yield* Effect.mapError(Config.String(env ?? ""), () => `the variable ${env} is not set`)
    : yield* Effect.mapError(read(path.resolve(folder, file)), (why) => `the file ${file}: ${why}`)
})

/** Reads a key. */
const readCredential = (place: CredentialSource, folder: string) =>
  Effect.flatMap(readSecret(place, folder), (text) =>
    Effect.mapError(
      Schema.decodeUnknownEffect(ApiKey)(text),
      () => `${place.env ?? place.file} has no key: it is empty, or has several words`
    )
  )

/** Visible characters, and spaces between them. */
const HEADER_VALUE = /^[!-~]+(?: +[!-~]+)*$/

/** The values of headers. */
const readHeaders = (headers: NonNullable<UpstreamEntry["headers"]>, folder: string) =>
  Effect.forEach(Object.entries(headers), ([name, value]) => {
    if (typeof value === "string") return Effect.succeed([name, value] as const)
    return readSecret(value, folder).pipe(
      Effect.map((text) => text.trim()),
      Effect.filterOrFail(
        (text) => HEADER_VALUE.test(text),
        () => `${value.env ?? value.file} has no value of a header`
      ),
      Effect.mapBoth({
        onFailure: (why) => `the header ${name}: ${why}`,
        onSuccess: (text) => [name, text] as const
      })
    )
  }).pipe(Effect.map((entries): Readonly<Record<string, string>> => Object.fromEntries(entries)))

const dialectOf = (id: string) =>
  Effect.flatMap(Dialects, (dialects) => {
    const found = dialects.find((one) => one.id === id)
    const known = dialects.map((one) => one.id).join(", ")
    return found === undefined
      ? Effect.fail(`the dialect ${id} is unknown. Known dialects: ${known}`)
      : Effect.succeed(found)
  })

/** The key at a place, or else in the vendor's variable. Any key for a vendor on this machine that asks for none. */
const keyOf = ({ keyVariable }: Dialect, given: CredentialSource | undefined, folder: string) => {
  const place = given ?? (keyVariable === undefined ? undefined : { env: keyVariable })
  return place === undefined ? Effect.succeed(makeApiKey("none")) : readCredential(place, folder)
}

const modelOf = (
  upstream: UpstreamEntry,
  { timeoutSeconds = upstream.timeoutSeconds, ...model }: ModelEntry
): ServedModel => ({
  ...model,
  aliases: model.aliases ?? [],
  priority: model.priority ?? upstream.priority ?? SHARE.priority,
  weight: model.weight ?? upstream.weight ?? SHARE.weight,
  timeout: timeoutSeconds === undefined ? responseTimeout(model.operation) : Duration.seconds(timeoutSeconds)
})

/** The upstream that the environment configures: the models of some uses, and any model for images and videos. */
export const gatewayUpstream = (
  { accessToken, apiKey, batch, prefixes, url }: GatewaySettings,
  library: LibraryNames
): UpstreamSettings => {
  const timeout = responseTimeout("embeddings")
  return {
    id: new URL(url).host,
    url,
    apiKey,
    accessToken,
    models: Struct.keys(LIBRARY_OPERATIONS).flatMap((use) => {
      const [id, operation] = [library[use], LIBRARY_OPERATIONS[use]]
      return id === undefined
        ? []
        : [{ id, operation, aliases: [], timeout: responseTimeout(operation), prefixes, batch }]
    }),
    anyModelOf: ["images", "videos"],
    timeout,
    idle: timeout,
    names: { url: "SLUICE_GATEWAY_URL", apiKey: "SLUICE_API_KEY" }
  }
}

/** The configuration without its credentials. */
interface ProvidersSource {
  readonly content: ProvidersFile
  /** The file, or the address in `OPENAI_BASE_URL`. Undefined: nothing is configured. */
  readonly from: string | undefined
  /** Whether the library uses an upstream's models. */
  readonly forLibrary: boolean
}

/**
 * Reads the file. Only the one in the data folder need not exist: without it, the upstream of `OPENAI_BASE_URL` is used, and
 * the embedded models. The error is a sentence about what is wrong.
 */
export const readProviders = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const isOptional = path.dirname(file) === (yield* connectionsFolder)
  if (isOptional && !(yield* Effect.orElseSucceed(fs.exists(file), () => false))) {
    const { openAi } = yield* ServerConfig
    const upstreams = openAi === undefined ? [] : [{ dialect: "openai", url: openAi }]
    const content: ProvidersFile = { upstreams, embedded: true }
    return { content, from: openAi, forLibrary: openAi !== undefined } satisfies ProvidersSource
  }
  const content = yield* Effect.flatMap(read(file), decodeProvidersFile)
  const forLibrary = Object.keys(content.library ?? {}).length > 0
  return { content, from: file, forLibrary } satisfies ProvidersSource as ProvidersSource
})

/** Fails the start where the providers cannot be read. The message names the file, or the variables that stand for it. */
export const orInvalidFile = (file: string) =>
  Effect.catch(
    Effect.fnUntraced(function* (why: string) {
      const { from = file } = yield* Effect.orElseSucceed(readProviders(file), () => ({ from: file }))
      const message =
        from === file
          ? `${file}: ${why}`
          : `OPENAI_BASE_URL and OPENAI_API_KEY: ${why.replace(NAME_MODELS, "")}`
      return yield* new StartError({ message })
    })
  )

/** How an upstream is called. `typed`: its key, in place of the one that the entry names. */
export const connectionSettings = Effect.fnUntraced(function* (
  { apiKey, headers, ...entry }: UpstreamEntry,
  folder: string,
  typed?: ApiKey
) {
  const dialect = yield* dialectOf(entry.dialect ?? gateway.id)
  const { id = dialect.id, url = dialect.url } = entry
  if (url === undefined) return yield* Effect.fail(`\`${id}\` has no \`url\`, and its dialect has none`)
  const key = Effect.mapError(keyOf(dialect, apiKey, folder), (why) => `the key of \`${id}\`: ${why}`)
  const values = Effect.mapError(readHeaders(headers ?? {}, folder), (why) => `\`${id}\`: ${why}`)
  return {
    ...Struct.pick(entry, ["drop", "paths", "query", "rename"]),
    ...(headers && { headers: yield* values }),
    dialect,
    url: withoutFinalSlash(url),
    apiKey: typed ?? (yield* key)
  } satisfies DialectSettings
})

/** An upstream with its credential and its models. */
const loadUpstream = Effect.fnUntraced(function* (
  entry: UpstreamEntry,
  folder: string,
  listing: ModelListing
) {
  const settings = yield* connectionSettings(entry, folder)
  const { id = settings.dialect.id } = entry
  const models = entry.models ?? (yield* listedModels(id, settings, entry, listing))
  return {
    ...settings,
    id,
    models: (models ?? []).map((model) => modelOf(entry, model)),
    isUnlisted: models === undefined,
    timeout: Duration.seconds(entry.timeoutSeconds ?? TIMEOUT_SECONDS),
    idle: Duration.seconds(entry.idleSeconds ?? TIMEOUT_SECONDS),
    names: { url: `the url of \`${id}\``, apiKey: `key for \`${id}\`` }
  } satisfies UpstreamSettings
})

/**
 * The models that the library names, of an upstream that has not listed its own: those that no other upstream serves. The
 * library then opens, and its calls fail until the vendor answers.
 */
const assumedModels = (
  library: LibraryNames,
  upstreams: ReadonlyArray<UpstreamSettings>,
  { operations }: Dialect
): ReadonlyArray<ModelEntry> => {
  const models = Struct.keys(LIBRARY_OPERATIONS).flatMap((use) => {
    const [id, operation] = [library[use], LIBRARY_OPERATIONS[use]]
    const isMissing = missingLibraryModel({ [use]: id }, upstreams) !== undefined
    return id !== undefined && isMissing && operation in operations ? [{ id, operation }] : []
  })
  return Array.dedupeWith(models, (a, b) => a.id === b.id && a.operation === b.operation)
}

/** The file with its credentials. The error is a sentence about what is wrong, without keys. */
export const loadProvidersSettings = Effect.fnUntraced(function* (file: string, listing: ModelListing = {}) {
  const path = yield* Path.Path
  const { content, forLibrary, from } = yield* readProviders(file)
  const { breaker, embedded = false, upstreams = [] } = content
  const found = yield* Effect.forEach(
    upstreams,
    (entry) =>
      Effect.map(loadUpstream(entry, path.dirname(file), listing), (settings) => ({ entry, settings })),
    { concurrency: "unbounded" }
  )
  const listed = found.map(({ settings }) => settings)
  const library: NonNullable<typeof content.library> =
    content.library ?? (forLibrary ? preferredModels(listed.flatMap(({ models }) => models)) : {})
  const loaded = found.map(({ entry, settings }): typeof settings => {
    if (!settings.isUnlisted) return settings
    const assumed = assumedModels(library, listed, settings.dialect)
    return { ...settings, models: assumed.map((model) => modelOf(entry, model)) }
  })
  const missing = missingLibraryModel(library, loaded)
  if (missing !== undefined) return yield* Effect.fail(missing)
  return {
    upstreams: loaded,
    /** Undefined: the embedded models are not served. */
    embedded: embedded === false ? undefined : { ...SHARE, ...(embedded !== true && embedded) },
    health: { ...CIRCUIT_DEFAULTS, ...breaker },
    library,
    /** Whether the library's models are to be chosen from a list that is not known yet. */
    isLibraryUnlisted:
      forLibrary && content.library === undefined && loaded.some(({ isUnlisted }) => isUnlisted),
    localModels: content.localModels,
    from,
    forLibrary
  }
})

export type ProvidersSettings = Effect.Success<ReturnType<typeof loadProvidersSettings>>
