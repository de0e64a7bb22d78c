/** Whether a request that carries a cookie was made by our own page. */
import type { HttpServerRequest } from "effect/http"

const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined

/**
 * Reading is free: what another origin asks for it cannot see. What changes something must say that it comes from this
 * origin: by `Sec-Fetch-Site` where the browser sends it, else by `Origin`. SameSite=Strict says the same; this does
 * not lean on it, since another port of the same host is the same site.
 */
export const isSameOrigin = (request: HttpServerRequest.HttpServerRequest): boolean => {
  if (request.method === "GET" || request.method === "HEAD") return true
  const { host, origin, "sec-fetch-site": site } = request.headers
  if (site !== undefined) return site === "same-origin"
  return origin !== undefined && host !== undefined && hostOf(origin) === host
}
