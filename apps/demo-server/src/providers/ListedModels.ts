/** The models that vendors list, for upstreams whose entry names none. */
import type { GatewayError } from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import { type DialectSettings, listModels, type VendorModel } from "@sluice/providers"
import { Effect, Redacted, Result } from "effect"
import type { ModelEntry, UpstreamEntry } from "./ProvidersFile.ts"

type List = ReadonlyArray<Required<VendorModel>>

/** The advice of a file. Models of `OPENAI_BASE_URL` cannot be named. */
export const NAME_MODELS = ". Name them in `models`"

/**
 * Lists of models, or why there is none yet, by vendor, address, and what is sent there: each change in the file's folder
 * reads the file again.
 */
const lists = new Map<string, Result.Result<List, GatewayError>>()

/** Lists the models of upstreams again when they are next needed. */
export const forgetModelLists = Effect.sync(() => lists.clear())

/** Gives listed models the operations that the entry names for them. */
export const correctOperations =
  ({ operations = {} }: UpstreamEntry) =>
  (listed: List) =>
    listed.map((model) => ({ ...model, operation: operations[model.id] ?? model.operation }))

/** How lists are loaded. */
export interface ModelListing {
  /** Whether vendors that have not answered are asked again. */
  readonly again?: boolean
  /** The ids of upstreams whose models must be known. Default: none, so that a server starts while a vendor is down. */
  readonly required?: ReadonlySet<string>
}

/** The models that an upstream lists, with the corrected operations. Undefined: the vendor has not answered yet. */
export const listedModels = Effect.fnUntraced(function* (
  id: string,
  settings: DialectSettings,
  entry: UpstreamEntry,
  { again = false, required }: ModelListing
) {
  const { apiKey, dialect, headers, query, url } = settings
  const place = JSON.stringify([dialect.id, url, Redacted.value(apiKey), headers, query])
  const before = lists.get(place)
  const isKnown = before !== undefined && (Result.isSuccess(before) || !again)
  const result = isKnown
    ? before
    : yield* Effect.result(Effect.provide(listModels(settings), layerTransport()))
  if (Result.isFailure(result)) {
    const why = `models of \`${id}\` could not be listed: ${result.failure.reason.message}`
    if (!result.failure.isRetryable || required?.has(id) === true)
      return yield* Effect.fail(`the ${why}${NAME_MODELS}`)
    lists.set(place, result)
    if (before === undefined)
      yield* Effect.logWarning(`The ${why}. They are missing until the vendor answers`)
    return undefined
  }
  if (result.success.length === 0) return yield* Effect.fail(`\`${id}\` lists no models${NAME_MODELS}`)
  lists.set(place, result)
  const models: ReadonlyArray<ModelEntry> = correctOperations(entry)(result.success)
  if (!isKnown) {
    const shown = models.map(({ id, operation }) => `${id} (${operation})`).join(", ")
    yield* Effect.logInfo(`\`${id}\` lists ${shown}. Correct an operation in \`operations\``)
  }
  return models
})
