/** Whether a request was made by our own page, and whether on this machine. */
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { isOurHost } from "./Hosts.ts"
import { parseSubnet } from "./Subnet.ts"

/** Of an `Origin`; undefined where it is none. */
export const hostOf = (origin: string): string | undefined =>
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

/** Whether a browser says that another origin's page makes the request; a program says nothing, and may sign in. */
export const isCrossOrigin = ({ headers }: HttpServerRequest.HttpServerRequest): boolean => {
  const { host, origin, "sec-fetch-site": site } = headers
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  return origin !== undefined && hostOf(origin) !== host
}

const isLoopbackAddress = parseSubnet("127.0.0.0/8, ::1/128") ?? (() => false)

/** What a proxy adds: behind one, everybody comes from where the proxy is. */
const PROXIED = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"]

/** Whether it was made on this machine, and through no proxy. */
export const isFromHere = ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest): boolean =>
  isLoopbackAddress(Option.getOrElse(remoteAddress, () => "")) &&
  PROXIED.every((name) => headers[name] === undefined)

/** The same, by a name that only this machine has. */
export const isLocal = (request: HttpServerRequest.HttpServerRequest): boolean =>
  isFromHere(request) && isOurHost(request.headers["host"], "127.0.0.1")
