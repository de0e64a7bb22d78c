/** Traces as OTLP over HTTP, if configured. They contain no texts, headers or keys. */
import { Effect, Layer, Redacted, References } from "effect"
import { FetchHttpClient, HttpMiddleware, UrlParams } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import { ServerConfig, VERSION } from "../config/ServerConfig.ts"

/** Probes, which are frequent, and paths that contain credentials. */
const isUntraced = ({ url }: { readonly url: string }): boolean =>
  /^\/(?:files\/|shared\/|healthz|readyz|metrics|assets\/)/i.test(url)

export const TracesLayer = Layer.unwrap(
  Effect.map(ServerConfig, ({ operation: { traces } }) =>
    traces === undefined
      ? // Each span would cost time.
        Layer.succeed(References.TracerEnabled, false)
      : Layer.mergeAll(
          OtlpTracer.layer({
            url: `${traces.url}/v1/traces`,
            headers: Redacted.value(traces.headers),
            resource: { serviceName: traces.service, serviceVersion: VERSION }
          }).pipe(Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer])),
          Layer.succeed(HttpMiddleware.TracerDisabledWhen, isUntraced),
          // All query values: they contain callers' texts.
          Layer.succeed(UrlParams.CurrentRedactedNames, [/^/])
        )
  )
)
