/** `GET /metrics` for Prometheus: from loopback, or with the token. */
import { Failure } from "@sluice/core/contract"
import { Effect, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { bearerToken } from "../accounts/Authenticator.ts"
import { isAllowedHost, isLocalPeer } from "../network/Origin.ts"
import { hashSecret, matchesSecret } from "../accounts/Secret.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import { respond } from "../http/HttpErrors.ts"
import { makeStateMetrics } from "./StateMetrics.ts"

const TYPE = "text/plain; version=0.0.4; charset=utf-8"

export const MetricsLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { host, operation } = yield* ServerConfig
    const state = yield* makeStateMetrics
    const token = operation.metricsToken && hashSecret(Redacted.value(operation.metricsToken))

    /** Without a token, a page of another site must not read them through a name of its own (DNS rebinding). */
    const mayRead = (request: HttpServerRequest.HttpServerRequest): boolean =>
      token === undefined
        ? isLocalPeer(request) && isAllowedHost(request.headers["host"], host, operation.hosts)
        : matchesSecret(bearerToken(request), token)

    yield* router.add(
      "GET",
      "/metrics",
      Effect.gen(function* () {
        if (!mayRead(yield* HttpServerRequest.HttpServerRequest)) {
          const message =
            token === undefined
              ? "Only this machine may read the metrics, and only under the names of SLUICE_HOSTS or its address. Set SLUICE_METRICS_TOKEN to read them from elsewhere"
              : "Send the token of SLUICE_METRICS_TOKEN as `Authorization: Bearer …`"
          return respond(new Failure({ status: 403, code: "metrics_not_allowed", message }))
        }
        yield* state.update
        return HttpServerResponse.text(yield* PrometheusMetrics.format(), { contentType: TYPE })
      })
    )
  })
)
