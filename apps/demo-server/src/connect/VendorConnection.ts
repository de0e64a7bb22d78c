/** A vendor to connect: what a person has said about it, and how the providers' file describes it. */
import { withoutFinalSlash } from "@sluice/core/contract"
import type { ApiKey } from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import { gateway, listModels } from "@sluice/providers"
import { Effect, Struct } from "effect"
import type { OfferedModel } from "../contract/Connections.ts"
import { isHttpUrl } from "../config/Variables.ts"
import type { UpstreamEntry } from "../providers/ProvidersFile.ts"
import { correctOperations } from "../providers/ListedModels.ts"
import { connectionSettings } from "../providers/ProvidersSettings.ts"

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
  if (url !== undefined && !isHttpUrl(url))
    return yield* Effect.fail("The address must begin with http:// or https://")
  const address = url === undefined ? {} : { url: withoutFinalSlash(url) }
  const kept = Struct.omit(keptOf(saved, { dialect: vendor, ...address }), ["url"])
  const key = given ?? kept.apiKey
  const typed = key !== undefined && "typed" in key ? key.typed : undefined
  const entry: UpstreamEntry = {
    dialect: vendor,
    ...(id !== undefined && id !== vendor && { id }),
    ...address,
    ...(key !== undefined && !("typed" in key) && { apiKey: key }),
    ...(models !== undefined && { models })
  }
  const settings = yield* connectionSettings({ ...kept, ...entry }, folder, typed)
  const listed = Effect.provide(listModels(settings), layerTransport()).pipe(
    Effect.mapBoth({
      onFailure: ({ reason }) => `${settings.dialect.name} did not list its models: ${reason.message}`,
      onSuccess: correctOperations(kept)
    })
  )
  const offered: ReadonlyArray<OfferedModel> = models ?? kept.models ?? (yield* listed)
  return { id: id ?? vendor, typed, settings, models: offered, entry }
})

export type PreparedConnection = Effect.Success<ReturnType<typeof prepareConnection>>
