/** Prices by model, from a file, in quota units. */
import { type PaidOperation, type Price, priceOf, PriceTable } from "@sluice/core/prices"
import { Context, Effect, FileSystem, Layer, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { ServerConfig } from "../config/ServerConfig.ts"
import { StartError } from "../config/StartError.ts"

/** The package's `prices.json`, found from `src/` as from `dist/`. */
const SHIPPED = fileURLToPath(new URL("../../prices.json", import.meta.url))

// An unknown key may be a misspelled price.
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(PriceTable), { onExcessProperty: "error" })

const readFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(
    fs.readFileString(file),
    () => new StartError({ message: `The prices in ${file} cannot be read. Check SLUICE_PRICES` })
  )
  return yield* Effect.mapError(
    decode(text),
    ({ message }) =>
      new StartError({
        message: `The prices in ${file} are not valid: ${message.replaceAll(/\s+/g, " ").replaceAll("Expected no excess property", "unknown key")}`
      })
  )
})

/**
 * The price of a model for an operation.
 *
 * **Details.** The file of `SLUICE_PRICES` takes precedence over the package's, and the model's price over the
 * operation's. Unknown keys and invalid amounts are a `StartError`.
 */
export class Prices extends Context.Service<
  Prices,
  {
    readonly of: (operation: PaidOperation, model: string) => Price
    /** Whether a model has a price of its own. */
    readonly isNamed: (model: string) => boolean
  }
>()("@sluice/demo-server/Prices") {
  static readonly layer = Layer.effect(
    Prices,
    Effect.gen(function* () {
      const { prices } = (yield* ServerConfig).billing
      const shipped = yield* readFile(SHIPPED)
      const files: ReadonlyArray<PriceTable> =
        prices === undefined ? [shipped] : [yield* readFile(prices), shipped]
      const layers = files.toReversed()
      // Unlike an assignment, it makes any name a key.
      const models = Object.fromEntries(layers.flatMap(({ models }) => Object.entries(models ?? {})))
      const defaults: NonNullable<PriceTable["defaults"]> = Object.assign(
        {},
        ...layers.map(({ defaults }) => defaults)
      )
      return {
        of: (operation, model) => priceOf({ models, defaults }, operation, model),
        isNamed: (model) => Object.hasOwn(models, model)
      }
    })
  )
}
