/** The caller's address and scheme behind trusted proxies. */
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Subnet } from "../network/IpAddress.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Proxies in a row at most. */
const HOPS = 32

/**
 * The address of the connection's peer, or if that is a trusted proxy, the address that it reports.
 *
 * **Details.** `X-Forwarded-For` is read from its end, as long as the address is a trusted proxy. Earlier
 * entries can be forged. A proxy that reports no address is the caller itself.
 */
export const addressOf = (peer: string, forwarded: string | undefined, isTrusted: Subnet): string => {
  let address = peer
  const hops = (forwarded ?? "").split(",").map((hop) => hop.trim())
  for (const hop of hops.slice(-HOPS).toReversed()) {
    if (hop === "" || !isTrusted(address)) return address
    // Some proxies add a port: 10.0.0.1:80, [2001:db8::1]:80.
    address = hop.replace(/^\[([^\]]*)\](?::\d+)?$/, "$1").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
  }
  return address
}

/** The scheme that the nearest proxy reports. */
const schemeOf = ({ headers }: Request): "http" | "https" | undefined => {
  const last = headers["x-forwarded-proto"]?.split(",").at(-1)?.trim().toLowerCase()
  return last === "http" || last === "https" ? last : undefined
}

/** The request with the caller's address and scheme. Headers of untrusted peers are ignored. */
export const behindProxies = (request: Request, isTrusted: Subnet): Request => {
  const peer = Option.getOrElse(request.remoteAddress, () => "")
  if (!isTrusted(peer)) return request
  const address = addressOf(peer, request.headers["x-forwarded-for"], isTrusted)
  const protocol = schemeOf(request)
  return request.modify({
    remoteAddress: Option.some(address),
    ...(protocol !== undefined && { protocol })
  })
}
