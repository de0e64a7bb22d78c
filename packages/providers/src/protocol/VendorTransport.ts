/** The library's transport to a vendor. */
import type { ApiKey } from "@sluice/core"
import { DownloadTransport, GatewayClient, layerTransport, type TransportOptions } from "@sluice/core/client"
import { readImage, mediaTypeOf } from "@sluice/core/media"
import { Context, Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { type DialectSettings, makeDialectClient, secretsOf } from "./DialectClient.ts"
import type { RequestTools } from "./Dialect.ts"

/** Images of a program's own requests: data URIs and Base64. A URL is not fetched. */
const localImages: RequestTools = {
  image: (given) =>
    readImage<string>(given).pipe(
      Effect.mapError(({ message }) => ({ message })),
      Effect.flatMap(({ image }) =>
        image === undefined
          ? Effect.fail({
              message: "This vendor takes the image itself, not its URL",
              code: "invalid_image_url"
            })
          : Effect.succeed({ bytes: image.bytes, mediaType: mediaTypeOf(image.format) })
      )
    )
}

/** A client of the interface over the vendor's protocol, for `GatewayClient.layerWithoutTransport`. */
export const layerVendorTransport = (settings: DialectSettings, options: TransportOptions = {}) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const connection = { ...settings, tools: localImages }
      const client = makeDialectClient(yield* HttpClient.HttpClient, connection)
      const downloads = makeDialectClient(yield* DownloadTransport, connection)
      return Context.make(HttpClient.HttpClient, client).pipe(Context.add(DownloadTransport, downloads))
    })
  ).pipe(Layer.provide(layerTransport(options)))

/** `Gateway` over a vendor, with the options of the client. */
export const layerVendorGateway = (
  settings: DialectSettings & { readonly apiKey: ApiKey },
  options: Omit<GatewayClient.GatewayClientOptions, "apiKey" | "baseUrl" | "secrets"> = {}
) => {
  const { apiKey, url: baseUrl } = settings
  const client = { ...options, apiKey, baseUrl, secrets: secretsOf(settings) }
  return Layer.provide(GatewayClient.layerWithoutTransport(client), layerVendorTransport(settings, options))
}
