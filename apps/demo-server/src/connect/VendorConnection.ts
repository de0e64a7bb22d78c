/** A vendor to connect: what a person has said about it, and how the providers' file describes it. */
import { type ApiKey, apiKey as makeApiKey } from "@sluice/core"
import { layerTransport, makeRedact } from "@sluice/core/client"
import { type Dialect, type DialectSettings, listModels, type OperationName } from "@sluice/providers"
import { Effect, Redacted } from "effect"
import type { UpstreamEntry } from "../providers/ProvidersFile.ts"
import { dialectOf, readCredential } from "../providers/ProvidersSettings.ts"

/** A model of the vendor. */
export interface OfferedModel {
  readonly id: string
  readonly operation: OperationName
}

/** Where the key is: a place, or the key itself, which is then written to a file. */
export type KeySource = NonNullable<UpstreamEntry["apiKey"]> | { readonly typed: ApiKey }

export interface VendorConnection {
  /** The name of the dialect. */
  readonly vendor: string
  /** Default: the vendor. */
  readonly id?: string | undefined
  /** Default: the vendor's. */
  readonly url?: string | undefined
  /** Default: the vendor's variable, or no key. */
  readonly key?: KeySource | undefined
  /** Default: those that the vendor lists. */
  readonly models?: ReadonlyArray<OfferedModel> | undefined
}

const NO_KEY = makeApiKey("none")

/** The place of the key, if it is not typed. */
const placeOf = ({ keyVariable }: Dialect, key: VendorConnection["key"]) =>
  key === undefined ? keyVariable && { env: keyVariable } : "typed" in key ? undefined : key

/**
 * How the vendor is called, its models, and the entry of the providers' file without a typed key. `folder`: where relative
 * paths of keys start. The error is a sentence without keys.
 */
export const prepareConnection = Effect.fn("connect.prepare")(function* (
  { id, key, models, url, vendor }: VendorConnection,
  folder: string
) {
  const dialect = yield* dialectOf(vendor)
  const address = url ?? dialect.url
  if (address === undefined) return yield* Effect.fail(`${dialect.name} needs an address`)
  const place = placeOf(dialect, key)
  const apiKey =
    key !== undefined && "typed" in key
      ? key.typed
      : place === undefined || place === ""
        ? NO_KEY
        : yield* Effect.mapError(readCredential(place, folder), (why) => `The key: ${why}`)
  const settings = { dialect, url: address.replace(/\/+$/, ""), apiKey } satisfies DialectSettings
  const redact = makeRedact(Redacted.value(apiKey))
  const offered =
    models ??
    (yield* Effect.provide(listModels(settings), layerTransport()).pipe(
      Effect.mapError((why) => `${dialect.name} did not list its models: ${redact(why)}`)
    ))
  const entry: UpstreamEntry = {
    dialect: vendor,
    ...(id !== undefined && id !== vendor && { id }),
    ...(url !== undefined && { url: settings.url }),
    ...(key !== undefined && !("typed" in key) && { apiKey: key }),
    ...(models !== undefined && { models })
  }
  return { id: id ?? vendor, settings, models: offered, entry }
})

export type PreparedConnection = Effect.Success<ReturnType<typeof prepareConnection>>
