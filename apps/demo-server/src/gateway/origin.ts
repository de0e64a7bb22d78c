/** Where this server is for whoever calls it. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"

/** As the request's Host and a trusted proxy have it, such as `http://localhost:3000`. */
export const originOf = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers, protocol = "http" }) => {
  const host = headers["host"] ?? "localhost"
  return `${protocol}://${/^[\w.:[\]-]+$/.test(host) ? host : "localhost"}`
})
