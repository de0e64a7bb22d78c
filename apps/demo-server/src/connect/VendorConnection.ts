/** A vendor to connect: what a person has said about it, and how the providers' file describes it. */
import { withoutFinalSlash } from "@sluice/core/contract"
import type { ApiKey } from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import { type DialectSettings, gateway, listModels } from "@sluice/providers"
import { Effect, Struct } from "effect"
import type { OfferedModel } from "../contract/Connections.ts"
import { isHttpUrl } from "../config/Variables.ts"
import type { UpstreamEntry } from "../providers/ProvidersFile.ts"
import { correctOperations } from "../providers/ListedModels.ts"
import { dialectOf, keyOf, requestSettings } from "../providers/ProvidersSettings.ts"

/** Where the key is: a place, or the key itself, which is then written to a file. */
export type KeySource = NonNullable<UpstreamEntry["apiKey"]> | { readonly typed: ApiKey }

export interface VendorConnection {
  /** The name of the dialect. */
  readonly vendor: string
  /** Default: the vendor. */
  readonly id?: string | undefined
  /** Default: the vendor's. */
  readonly url?: string | undefined
  /** Default: the saved one, or the vendor's variable, or no key. */
  readonly key?: KeySource | undefined
  /** Default: those of the saved entry, or those that the vendor lists. */
  readonly models?: ReadonlyArray<OfferedModel> | undefined
}

/** Whether an entry has the dialect and the address: its secrets are sent nowhere else. */
export const isSameUpstream = (
  saved: UpstreamEntry,
  { dialect, url }: Pick<UpstreamEntry, "dialect"> & { readonly url?: string | null | undefined }
) =>
  (saved.dialect ?? gateway.id) === dialect &&
  withoutFinalSlash(saved.url ?? "") === withoutFinalSlash(url ?? "")

/**
 * What remains of a saved entry when another one replaces it. Its secrets are those of its address, its models and the form
 * of its requests those of its dialect.
 */
export const keptOf = (saved: UpstreamEntry | undefined, next: UpstreamEntry): UpstreamEntry => {
  if (saved === undefined || isSameUpstream(saved, next)) return saved ?? {}
  const kept = Struct.omit(saved, ["apiKey", "headers", "query"])
  return (saved.dialect ?? gateway.id) === next.dialect
    ? kept
    : Struct.omit(kept, ["models", "operations", "paths", "drop", "rename"])
}

/**
 * How the vendor is called, its models, and the entry of the providers' file without a typed key. `folder`: where relative
 * paths of keys start. `saved`: the entry that this one replaces. The error is a sentence without keys.
 */
export const prepareConnection = Effect.fn("connect.prepare")(function* (
  { id, key: given, models, url, vendor }: VendorConnection,
  folder: string,
  saved?: UpstreamEntry
) {
  const dialect = yield* dialectOf(vendor)
  const address = url ?? dialect.url
  if (address === undefined) return yield* Effect.fail(`${dialect.name} needs an address`)
  if (!isHttpUrl(address)) return yield* Effect.fail("The address must begin with http:// or https://")
  const kept = keptOf(saved, { dialect: vendor, ...(url !== undefined && { url }) })
  const key = given ?? kept.apiKey
  const isTyped = key !== undefined && "typed" in key
  const settings = {
    dialect,
    url: withoutFinalSlash(address),
    apiKey: isTyped
      ? key.typed
      : yield* Effect.mapError(keyOf(dialect, key, folder), (why) => `The key: ${why}`),
    ...(yield* requestSettings(kept, folder))
  } satisfies DialectSettings
  const listed = Effect.provide(listModels(settings), layerTransport()).pipe(
    Effect.mapBoth({
      onFailure: ({ reason }) => `${dialect.name} did not list its models: ${reason.message}`,
      onSuccess: correctOperations(kept)
    })
  )
  const offered: ReadonlyArray<OfferedModel> = models ?? kept.models ?? (yield* listed)
  const entry: UpstreamEntry = {
    dialect: vendor,
    ...(id !== undefined && id !== vendor && { id }),
    ...(url !== undefined && { url: settings.url }),
    ...(key !== undefined && !isTyped && { apiKey: key }),
    ...(models !== undefined && { models })
  }
  return { id: id ?? vendor, key, settings, models: offered, entry }
})

export type PreparedConnection = Effect.Success<ReturnType<typeof prepareConnection>>
