/** An HTTP client that uses the proxy of the environment: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { EnvHttpProxyAgent } from "@effect/platform-node/Undici"
import { Effect, Layer } from "effect"

export const layerProxiedHttpClient = Layer.provide(
  NodeHttpClient.layerUndiciNoDispatcher,
  Layer.effect(
    NodeHttpClient.Dispatcher,
    Effect.acquireRelease(
      Effect.sync(() => new EnvHttpProxyAgent()),
      (agent) => Effect.promise(() => agent.destroy())
    )
  )
)
