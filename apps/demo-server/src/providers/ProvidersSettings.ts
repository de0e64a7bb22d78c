/** Finds and reads `sluice.config.json` and the credentials that it refers to. */
import { ApiKey } from "@sluice/core"
import { Config, Duration, Effect, FileSystem, Path, Schema } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import { StartError } from "../config/StartError.ts"
import { CIRCUIT_DEFAULTS } from "../routing/ProviderCircuits.ts"
import { Dialects, gateway } from "@sluice/providers"
import type { ServedModel, UpstreamSettings } from "../routing/UpstreamProvider.ts"
import { decodeProvidersFile, type UpstreamEntry } from "./ProvidersFile.ts"

/** The absolute path of the file; undefined if it does not exist and `SLUICE_CONFIG` names none. */
export const providersPath = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { gateway } = yield* ServerConfig
  const named = (yield* Effect.orElseSucceed(Config.String("SLUICE_CONFIG"), () => "")).trim()
  const file = path.resolve(named === "" ? "sluice.config.json" : named)
  if (!(yield* Effect.orElseSucceed(fs.exists(file), () => false))) {
    if (named === "") return undefined
    return yield* new StartError({ message: `SLUICE_CONFIG names ${file}, which does not exist` })
  }
  if (gateway !== undefined) {
    return yield* new StartError({
      message: `${file} and SLUICE_GATEWAY_URL both configure providers. Add the gateway to the file as an upstream, or move the file away`
    })
  }
  return file
})

const SHARE = { priority: 1, weight: 1 }
const TIMEOUT_SECONDS = 60

const read = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path)).pipe(
    Effect.mapError(({ reason }) => `it cannot be read (${reason._tag})`)
  )

/** Reads a key from its variable or file. The error names the place, not the key. */
const readCredential = Effect.fnUntraced(function* ({ env, file }: UpstreamEntry["apiKey"], folder: string) {
  const path = yield* Path.Path
  const found =
    file === undefined
      ? yield* Effect.mapError(Config.String(env ?? ""), () => `the variable ${env} is not set`)
      : yield* Effect.mapError(read(path.resolve(folder, file)), (why) => `the file ${file}: ${why}`)
  return yield* Effect.mapError(
    Schema.decodeUnknownEffect(ApiKey)(found),
    () => `${env ?? file} has no key: it is empty, or has several words`
  )
})

/** The upstream's protocol. */
const dialectOf = ({ id, protocol = gateway.id }: UpstreamEntry) =>
  Effect.flatMap(Dialects, (dialects) => {
    const dialect = dialects.find((one) => one.id === protocol)
    const known = dialects.map((one) => one.id).join(", ")
    return dialect === undefined
      ? Effect.fail(`the protocol of \`${id}\` is unknown: ${protocol}. Known protocols: ${known}`)
      : Effect.succeed(dialect)
  })

const modelOf = (
  upstream: UpstreamEntry,
  { timeoutSeconds, ...model }: UpstreamEntry["models"][number]
): ServedModel => ({
  ...model,
  aliases: model.aliases ?? [],
  priority: model.priority ?? upstream.priority ?? SHARE.priority,
  weight: model.weight ?? upstream.weight ?? SHARE.weight,
  timeout: Duration.seconds(timeoutSeconds ?? upstream.timeoutSeconds ?? TIMEOUT_SECONDS)
})

/** The server cannot start with the file. `why`: the error of reading it. */
export const invalidFile = (file: string) => (why: string) => new StartError({ message: `${file}: ${why}` })

/** The file without its credentials. The error is a sentence about what is wrong. */
export const readProvidersFile = (file: string) => Effect.flatMap(read(file), decodeProvidersFile)

/** The file with its credentials. The error is a sentence about what is wrong, without keys. */
export const loadProvidersSettings = Effect.fnUntraced(function* (file: string) {
  const path = yield* Path.Path
  const { breaker, embedded = false, library = {}, upstreams = [] } = yield* readProvidersFile(file)
  return {
    upstreams: yield* Effect.forEach(
      upstreams,
      Effect.fnUntraced(function* (upstream) {
        const apiKey = yield* Effect.mapError(
          readCredential(upstream.apiKey, path.dirname(file)),
          (why) => `the key of \`${upstream.id}\`: ${why}`
        )
        return {
          id: upstream.id,
          url: upstream.url.replace(/\/+$/, "").replace(/\/v1$/, ""),
          apiKey,
          dialect: yield* dialectOf(upstream),
          models: upstream.models.map((model) => modelOf(upstream, model)),
          timeout: Duration.seconds(upstream.timeoutSeconds ?? TIMEOUT_SECONDS),
          idle: Duration.seconds(upstream.idleSeconds ?? TIMEOUT_SECONDS),
          names: { url: `the url of \`${upstream.id}\``, apiKey: `key for \`${upstream.id}\`` }
        } satisfies UpstreamSettings
      })
    ),
    /** Undefined: the embedded models are not served. */
    embedded: embedded === false ? undefined : { ...SHARE, ...(embedded !== true && embedded) },
    health: { ...CIRCUIT_DEFAULTS, ...breaker },
    library
  }
})

export type ProvidersSettings = Effect.Success<ReturnType<typeof loadProvidersSettings>>
