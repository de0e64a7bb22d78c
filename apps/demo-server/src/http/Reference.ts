/** `/docs`: the reference page of the API, which needs no network; `/openapi.json`: its document. */
import { Effect, Scope } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar, OpenApi } from "effect/http-api"
import { ServerApi } from "../contract/ServerApi.ts"

/** The viewer is an inline script. This policy keeps it from contacting other hosts. */
const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** The viewer has several megabytes: it is loaded at the first request. */
const viewer = HttpRouter.toHttpEffect(
  HttpApiScalar.layer(ServerApi, { path: "/docs", scalar: { withDefaultFonts: false } })
)

export const ReferenceLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const document = yield* Effect.cached(
      Effect.sync(() => HttpServerResponse.jsonUnsafe(OpenApi.fromApi(ServerApi)))
    )
    yield* router.add("GET", "/openapi.json", document)
    const scope = yield* Effect.scope
    const loaded = yield* Effect.cached(Scope.provide(viewer, scope))
    yield* router.add(
      "GET",
      "/docs",
      Effect.flatMap(loaded, (serve) =>
        Effect.map(serve, HttpServerResponse.setHeader("content-security-policy", POLICY))
      )
    )
  })
)
