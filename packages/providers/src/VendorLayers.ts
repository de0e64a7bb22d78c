/**
 * Vendors for programs: layers for `Embedder`, `Reranker`, `Reader` and `Vision`, and for the whole `Gateway`.
 *
 * ```ts
 * Layer.mergeAll(
 *   Providers.ollama.embedder({ model: "nomic-embed-text" }),
 *   Providers.cohere.reranker({ model: "rerank-v3.5" }),
 *   Providers.anthropic.reader({ model: "claude-sonnet-4-5" })
 * )
 * ```
 *
 * The key is `apiKey`, or else the vendor's usual variable. A vendor has the layers that it has models for.
 */
import {
  ApiKey,
  apiKey as makeApiKey,
  type Gateway,
  GatewayEmbedder,
  GatewayError,
  GatewayReader,
  GatewayReranker,
  GatewayVision,
  InvalidRequest
} from "@sluice/core"
import type { GatewayClient } from "@sluice/core/client"
import { Config, Effect, Layer, Record, Redacted } from "effect"
import { VENDORS } from "./dialects/index.ts"
import type { Dialect } from "./protocol/Dialect.ts"
import type { DialectSettings } from "./protocol/DialectClient.ts"
import { gateway } from "./protocol/GatewayDialect.ts"
import { knownModel } from "./protocol/ModelFamilies.ts"
import { layerVendorGateway } from "./protocol/VendorTransport.ts"

/** How a vendor is reached: its address and key, what differs there, and the client's options. */
export interface VendorOptions
  extends
    Omit<GatewayClient.GatewayClientOptions, "baseUrl" | "apiKey">,
    Omit<DialectSettings, "dialect" | "url" | "apiKey" | "headers"> {
  /** Default: the vendor's usual variable, such as `CO_API_KEY`. Servers on this machine need none. */
  readonly apiKey?: ApiKey
  /** Default: the vendor's address. */
  readonly url?: string
}

interface ModelOptions extends VendorOptions {
  readonly model: string
}

const misconfigured = (message: string) =>
  new GatewayError({ operation: "configure", reason: new InvalidRequest({ message }) })

const keyOf = ({ keyVariable, name }: Dialect, given: ApiKey | undefined) => {
  if (given !== undefined) return Effect.succeed(given)
  if (keyVariable === undefined) return Effect.succeed(makeApiKey("none"))
  return Effect.mapError(Config.schema(ApiKey, keyVariable), () =>
    misconfigured(`${name} needs a key: set ${keyVariable}, or pass \`apiKey\``)
  )
}

const plainHeaders = (headers: NonNullable<VendorOptions["headers"]>) =>
  Record.map(headers, (value) => (typeof value === "string" ? value : Redacted.value(value)))

/** `Gateway` over a vendor: also its images and videos, if it has them. */
const gatewayOf =
  (dialect: Dialect) =>
  (options: VendorOptions = {}): Layer.Layer<Gateway, GatewayError> =>
    Layer.unwrap(
      Effect.gen(function* () {
        const { headers, url = dialect.url, ...given } = options
        if (url === undefined) return yield* misconfigured(`${dialect.name} needs its address: pass \`url\``)
        const apiKey = yield* keyOf(dialect, options.apiKey)
        // The client sends the headers with its requests. Those that a dialect adds, such as polls, need them too.
        const own = headers === undefined || dialect === gateway ? {} : { headers: plainHeaders(headers) }
        const settings = { ...given, dialect, url, apiKey, ...own }
        return layerVendorGateway(settings, options)
      })
    )

/** All layers over a vendor. */
const layersOf = (dialect: Dialect) => {
  const layerGateway = gatewayOf(dialect)
  return {
    gateway: layerGateway,
    embedder: ({
      model,
      prefixes,
      ...options
    }: ModelOptions & Pick<GatewayEmbedder.GatewayEmbedderOptions, "prefixes">) => {
      const { batch, prefixes: known } = knownModel(dialect, model)
      return Layer.provide(
        GatewayEmbedder.layer({ model, prefixes: prefixes ?? known, hasInputType: dialect.hasInputType }),
        layerGateway({ ...(batch !== undefined && { embeddings: { texts: batch } }), ...options })
      )
    },
    reranker: ({ model, ...options }: ModelOptions) => {
      const { batch } = knownModel(dialect, model)
      return Layer.provide(GatewayReranker.layer({ model, maxDocuments: batch }), layerGateway(options))
    },
    reader: ({ model, ...options }: ModelOptions) =>
      Layer.provide(GatewayReader.layer({ model }), layerGateway(options)),
    vision: ({ model, ...options }: ModelOptions) =>
      Layer.provide(GatewayVision.layer({ model }), layerGateway(options))
  }
}

type Layers = ReturnType<typeof layersOf>

/** The operation that each layer calls. */
const OPERATIONS = { embedder: "embeddings", reranker: "rerank", reader: "chat", vision: "chat" } as const
type Named = keyof typeof OPERATIONS

/** The layers that a vendor has models for. */
type LayersOf<D extends Dialect> = Pick<
  Layers,
  "gateway" | { [L in Named]: (typeof OPERATIONS)[L] extends keyof D["operations"] ? L : never }[Named]
>

/** The layers of each vendor, under its id. */
export const vendorLayers = Object.fromEntries(
  VENDORS.map((dialect: Dialect) => [
    dialect.id,
    Record.filter(
      layersOf(dialect),
      (_, name) => name === "gateway" || OPERATIONS[name as Named] in dialect.operations
    )
  ])
) as unknown as { readonly [D in (typeof VENDORS)[number] as D["id"]]: LayersOf<D> }
