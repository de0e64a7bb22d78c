/** The server's host names, and whether a request comes from its own page or from this machine. */
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { parseSubnet } from "./IpAddress.ts"

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Whether an address to bind is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
  LOOPBACK.has(host) || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host)

/** Whether a host name is the server's: a loopback name, one of `names`, or the bound loopback address. */
export const isServerName = (name: string, bound: string, names: ReadonlyArray<string> = []): boolean =>
  LOOPBACK.has(name) || names.includes(name) || (isLoopback(bound) && name === bound.toLowerCase())

/**
 * Whether a `Host` header is allowed. It protects against DNS rebinding: a page of another site can resolve its own name
 * to the server's address, but the header still has that name.
 *
 * **Details.** If the server is bound to loopback, or `names` are given, only loopback names and `names` are allowed.
 * Otherwise its names are unknown and every name is allowed.
 */
export const isAllowedHost = (
  header: string | undefined,
  bound: string,
  names: ReadonlyArray<string> = []
): boolean => {
  if (header === undefined) return false
  if (names.length === 0 && !isLoopback(bound)) return true
  return isServerName(header.replace(/:\d+$/, "").toLowerCase(), bound, names)
}

/** The address at which the caller called this server, by the Host header: `http://localhost:3000`. */
export const requestOrigin = ({
  headers,
  protocol = "http"
}: HttpServerRequest.HttpServerRequest): string => {
  const host = headers["host"] ?? "localhost"
  return `${protocol}://${/^[\w.:[\]-]+$/.test(host) ? host : "localhost"}`
}

/** The host of an `Origin` header; undefined if it is not a URL. */
export const originHost = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined

/**
 * Whether a request may use the page's cookie. GET and HEAD always may: another origin cannot read the response. Other
 * methods must prove the same origin by `Sec-Fetch-Site`, or by `Origin` in older browsers. `SameSite=Strict` alone is
 * not enough: another port of the same host is the same site.
 */
export const isSameOrigin = (request: HttpServerRequest.HttpServerRequest): boolean => {
  if (request.method === "GET" || request.method === "HEAD") return true
  const { host, origin, "sec-fetch-site": site } = request.headers
  if (site !== undefined) return site === "same-origin"
  return origin !== undefined && host !== undefined && originHost(origin) === host
}

/** Whether a browser says that another origin's page makes the request. Programs send no such headers. */
export const isCrossOrigin = ({ headers }: HttpServerRequest.HttpServerRequest): boolean => {
  const { host, origin, "sec-fetch-site": site } = headers
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  return origin !== undefined && originHost(origin) !== host
}

const isLoopbackAddress = parseSubnet("127.0.0.0/8, ::1/128") ?? (() => false)

/** Headers that proxies add. Behind a proxy, every request has the proxy's address. */
const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"]

/** Whether a request comes from this machine, and not through a proxy. */
export const isLocalPeer = ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest): boolean =>
  isLoopbackAddress(Option.getOrElse(remoteAddress, () => "")) &&
  PROXY_HEADERS.every((name) => headers[name] === undefined)

/** Whether a request comes from this machine and was sent to a loopback name. */
export const isLocalRequest = (request: HttpServerRequest.HttpServerRequest): boolean =>
  isLocalPeer(request) && isAllowedHost(request.headers["host"], "127.0.0.1")
