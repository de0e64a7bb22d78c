/** Who calls, and by which scheme, where proxies that are trusted stand between. */
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Subnet } from "../network/IpAddress.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Proxies in a row at most. */
const HOPS = 32

/**
 * The address at the other end of the connection; where that is a proxy of ours, the one that it names.
 *
 * **Details.** `X-Forwarded-For` is read from its end, which our proxy wrote, for as long as who wrote it is ours. What
 * stands before that anybody can write. A proxy that names nobody is taken for the caller itself.
 */
export const addressOf = (peer: string, forwarded: string | undefined, isTrusted: Subnet): string => {
  let address = peer
  const hops = (forwarded ?? "").split(",").map((hop) => hop.trim())
  for (const hop of hops.slice(-HOPS).toReversed()) {
    if (hop === "" || !isTrusted(address)) return address
    // Some write a port: 10.0.0.1:80, [2001:db8::1]:80.
    address = hop.replace(/^\[([^\]]*)\](?::\d+)?$/, "$1").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
  }
  return address
}

/** What the proxy that is nearest to us said last. */
const schemeOf = ({ headers }: Request): "http" | "https" | undefined => {
  const last = headers["x-forwarded-proto"]?.split(",").at(-1)?.trim().toLowerCase()
  return last === "http" || last === "https" ? last : undefined
}

/** The request as whoever sent it to the proxy meant it. From a peer that is not trusted the headers are nothing. */
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
