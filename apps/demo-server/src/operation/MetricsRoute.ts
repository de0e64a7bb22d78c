/** `GET /metrics`: what is counted, as Prometheus reads it; to loopback alone, or to who has the token. */
import { Failure } from "@sluice/core"
import { Effect, Metric, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createHash, timingSafeEqual } from "node:crypto"
import { parseSubnet } from "../accounts/Subnet.ts"
import { ServerConfig } from "../Config.ts"
import { MediaTasks } from "../media/MediaTasks.ts"

const TYPE = "text/plain; version=0.0.4; charset=utf-8"

const tasks = Metric.gauge("sluice_media_tasks", {
  description: "Tasks of images and videos that are remembered"
})
const memory = Metric.gauge("process_resident_memory_bytes", { description: "Memory of the process" })

const isLoopback = parseSubnet("127.0.0.0/8, ::1/128") ?? (() => false)

const digest = (text: string) => createHash("sha256").update(text).digest()

const refused = (message: string) => {
  const { body, headers, status } = new Failure({
    status: 403,
    code: "metrics_not_allowed",
    message,
    retryable: false
  })
  return HttpServerResponse.jsonUnsafe(body, { status, headers: { ...headers } })
}

/** A proxy on this machine that nobody told us of passes requests on from anywhere. */
const isPassedOn = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  ["x-forwarded-for", "forwarded", "x-real-ip", "via"].some((name) => headers[name] !== undefined)

export const MetricsLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { operation } = yield* ServerConfig
    const { counts } = yield* MediaTasks
    const token = operation.metricsToken && digest(Redacted.value(operation.metricsToken))

    const mayRead = (request: HttpServerRequest.HttpServerRequest): boolean => {
      if (token === undefined) {
        const address = Option.getOrElse(request.remoteAddress, () => "")
        return isLoopback(address) && !isPassedOn(request)
      }
      const [, given = ""] = /^Bearer (.+)$/i.exec(request.headers["authorization"] ?? "") ?? []
      return timingSafeEqual(digest(given), token)
    }

    yield* router.add(
      "GET",
      "/metrics",
      Effect.gen(function* () {
        if (!mayRead(yield* HttpServerRequest.HttpServerRequest)) {
          return refused(
            token === undefined
              ? "The metrics are read from this machine alone: set SLUICE_METRICS_TOKEN to read them from elsewhere"
              : "The metrics are read with the token of SLUICE_METRICS_TOKEN, as `Authorization: Bearer …`"
          )
        }
        // While the database is gone, as many as there were.
        for (const { kind, number, status } of yield* Effect.orElseSucceed(counts, () => [])) {
          yield* Metric.update(Metric.withAttributes(tasks, { kind, status }), number)
        }
        yield* Metric.update(memory, process.memoryUsage.rss())
        return HttpServerResponse.text(yield* PrometheusMetrics.format(), { contentType: TYPE })
      })
    )
  })
)
