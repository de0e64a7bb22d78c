/** Reads `sluice.config.json` and the credentials that it points at. */
import { ApiKey } from "@sluice/core"
import { Config, Duration, Effect, FileSystem, Path, Schema } from "effect"
import { HEALTH, type HealthOptions } from "../routing/Health.ts"
import type { ServedModel, UpstreamSettings } from "../routing/UpstreamProvider.ts"
import {
  type CredentialSource,
  decodeProvidersFile,
  type ProvidersFile,
  type UpstreamEntry
} from "./ProvidersFile.ts"

/** What answers, as the file has it. */
export interface ProvidersSettings {
  readonly upstreams: ReadonlyArray<UpstreamSettings>
  /** Absent: the models of this process do not answer. */
  readonly embedded: { readonly priority: number; readonly weight: number } | undefined
  readonly health: HealthOptions
  readonly library: NonNullable<ProvidersFile["library"]>
}

const decodeKey = Schema.decodeUnknownEffect(ApiKey)

const PRIORITY = 1
const WEIGHT = 1
const TIMEOUT_SECONDS = 60

const read = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path)).pipe(
    Effect.mapError(({ reason }) => `it cannot be read (${reason._tag})`)
  )

/** The key itself, from where the file says; the error says where it is not. */
const credential = Effect.fnUntraced(function* ({ env, file }: CredentialSource, folder: string) {
  const path = yield* Path.Path
  const found =
    file === undefined
      ? yield* Effect.mapError(Config.String(env ?? ""), () => `the variable ${env} is not set`)
      : yield* Effect.mapError(read(path.resolve(folder, file)), (why) => `the file ${file}: ${why}`)
  return yield* Effect.mapError(
    decodeKey(found),
    () => `what ${env ?? file} holds is no key: it is empty, or not one word`
  )
})

const modelOf = (upstream: UpstreamEntry, model: UpstreamEntry["models"][number]): ServedModel => ({
  id: model.id,
  operation: model.operation,
  aliases: model.aliases ?? [],
  priority: model.priority ?? upstream.priority ?? PRIORITY,
  weight: model.weight ?? upstream.weight ?? WEIGHT,
  timeout: Duration.seconds(model.timeoutSeconds ?? upstream.timeoutSeconds ?? TIMEOUT_SECONDS),
  ...(model.group !== undefined && { group: model.group }),
  ...(model.note !== undefined && { note: model.note }),
  ...(model.prefixes !== undefined && { prefixes: model.prefixes }),
  ...(model.batch !== undefined && { batch: model.batch })
})

/** What a file says, without the credentials; the error says in words what is wrong. */
export const readProvidersFile = (file: string) => Effect.flatMap(read(file), decodeProvidersFile)

/** The settings of a file; the error says in words what is wrong, and never shows a key. */
export const loadProvidersSettings = Effect.fnUntraced(function* (file: string) {
  const path = yield* Path.Path
  const { breaker, embedded = false, library = {}, upstreams = [] } = yield* readProvidersFile(file)
  const shares = typeof embedded === "object" ? embedded : {}
  return {
    upstreams: yield* Effect.forEach(upstreams, (upstream) =>
      Effect.map(
        Effect.mapError(
          credential(upstream.apiKey, path.dirname(file)),
          (why) => `the key of \`${upstream.id}\`: ${why}`
        ),
        (apiKey): UpstreamSettings => ({
          id: upstream.id,
          url: upstream.url.replace(/\/+$/, "").replace(/\/v1$/, ""),
          apiKey,
          models: upstream.models.map((model) => modelOf(upstream, model)),
          timeout: Duration.seconds(upstream.timeoutSeconds ?? TIMEOUT_SECONDS),
          idle: Duration.seconds(upstream.idleSeconds ?? TIMEOUT_SECONDS),
          names: { url: `the url of \`${upstream.id}\``, apiKey: `key for \`${upstream.id}\`` }
        })
      )
    ),
    embedded:
      embedded === false
        ? undefined
        : { priority: shares.priority ?? PRIORITY, weight: shares.weight ?? WEIGHT },
    health: {
      failures: breaker?.failures ?? HEALTH.failures,
      openSeconds: breaker?.openSeconds ?? HEALTH.openSeconds
    },
    library
  } satisfies ProvidersSettings
})
