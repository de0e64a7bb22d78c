/** Where this server is for whoever calls it. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"

/** As the request's Host has it, such as `http://localhost:3000`. */
export const originOf = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
  const host = headers["host"] ?? "localhost"
  return `http://${/^[\w.:[\]-]+$/.test(host) ? host : "localhost"}`
})
