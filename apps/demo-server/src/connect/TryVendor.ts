/** The smallest call of each kind that a vendor has. */
import { Gateway, type GatewayError, RETRY_NEVER } from "@sluice/core"
import { layerVendorGateway, type OperationName, preferredModel, preferredModels } from "@sluice/providers"
import { Effect } from "effect"
import type { OfferedModel, TryResult } from "../contract/Connections.ts"
import type { PreparedConnection } from "./VendorConnection.ts"
import { OPERATION_NAMES } from "./Vendors.ts"

/** Fewer are refused for some reasoning models. */
const CHAT_TOKENS = 16

interface Trial {
  /** What is sent, and what it costs. */
  readonly cost: string
  readonly call: (gateway: Gateway["Service"], model: string) => Effect.Effect<unknown, GatewayError>
}

const TRIALS: Readonly<Record<OperationName, Trial>> = {
  embeddings: {
    cost: "one word",
    call: (gateway, model) => gateway.embeddings({ model, input: ["word"] })
  },
  rerank: {
    cost: "two words",
    call: (gateway, model) => gateway.rerank({ model, query: "word", documents: ["word", "other"] })
  },
  chat: {
    cost: `one word, at most ${CHAT_TOKENS} tokens back`,
    call: (gateway, model) =>
      gateway.chat({ model, messages: [{ role: "user", content: "Hi" }], maxTokens: CHAT_TOKENS })
  },
  images: {
    cost: "one image at the vendor’s price",
    call: (gateway, model) => gateway.images.generate({ model, prompt: "A red circle" })
  },
  videos: {
    cost: "one video at the vendor’s price",
    call: (gateway, model) => gateway.videos.create({ model, prompt: "A red circle" })
  }
}

/** They cost cents to dollars, so they are tried only when asked for. */
const MEDIA: ReadonlySet<OperationName> = new Set(["images", "videos"])

interface PlannedTry extends OfferedModel {
  readonly cost: string
}

/** One call for each operation that the vendor has models for. Images and videos only if `media` is true. */
export const planTries = (models: ReadonlyArray<OfferedModel>, media: boolean): ReadonlyArray<PlannedTry> =>
  OPERATION_NAMES.flatMap((operation) => {
    const id = preferredModel(models, operation)
    if (id === undefined || (MEDIA.has(operation) && !media)) return []
    return [{ id, operation, cost: TRIALS[operation].cost }]
  })

/** Makes the calls. They are not repeated. Messages do not contain the key. The error is a sentence about the address. */
export const tryVendor = Effect.fn("connect.try")(function* (
  { settings }: Pick<PreparedConnection, "settings">,
  tries: ReadonlyArray<PlannedTry>
) {
  return yield* Effect.forEach(tries, ({ id: model, operation }) =>
    Effect.flatMap(Gateway, (gateway) => TRIALS[operation].call(gateway, model)).pipe(
      Effect.match({
        onSuccess: (): TryResult => ({ operation, model, ok: true }),
        onFailure: ({ message }): TryResult => ({ operation, model, ok: false, message })
      })
    )
  ).pipe(
    Effect.provide(layerVendorGateway(settings, { retry: RETRY_NEVER })),
    Effect.mapError(({ message }) => message)
  )
})

/** The library's models among those of the operations that did not fail. */
export const proposedModels = (models: ReadonlyArray<OfferedModel>, tries: ReadonlyArray<TryResult>) => {
  const failed = new Set(tries.flatMap(({ ok, operation }) => (ok ? [] : [operation])))
  return preferredModels(models.filter(({ operation }) => !failed.has(operation)))
}
