/** Who calls, and by which scheme, where proxies that are trusted stand between. */
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { isIP } from "node:net"
import type { Subnet } from "../accounts/Subnet.ts"

type Request = HttpServerRequest.HttpServerRequest

const listOf = (header: string | undefined): ReadonlyArray<string> =>
  (header ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

/** Some proxies write the port too. */
const addressOf = (hop: string): string | undefined => {
  const bare = hop.replace(/^\[([^\]]+)\](?::\d+)?$/, "$1").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
  return isIP(bare) === 0 ? undefined : bare
}

/** The scheme that goes with a hop: one for each of them, or one for all. */
const schemeOf = (request: Request, hops: number, at: number): "http" | "https" | undefined => {
  const schemes = listOf(request.headers["x-forwarded-proto"])
  const scheme = (
    schemes.length === hops ? schemes[at] : schemes.length === 1 ? schemes[0] : ""
  )?.toLowerCase()
  return scheme === "http" || scheme === "https" ? scheme : undefined
}

/**
 * The request as who sent it to the first trusted proxy meant it.
 *
 * **Details.** Each proxy appends whom it heard: read from the end, the first address that is no trusted proxy is the
 * caller's. Before it anybody may have written anything. From a peer that is not trusted the headers are nothing.
 *
 * **Gotchas.** Where a trusted proxy names no address, the caller has none: no subnet lets it pass.
 */
export const behindProxies = (request: Request, isTrusted: Subnet): Request => {
  const peer = Option.getOrElse(request.remoteAddress, () => "")
  if (!isTrusted(peer)) return request
  const hops = listOf(request.headers["x-forwarded-for"])
  const last = hops.findLastIndex((hop) => !isTrusted(addressOf(hop) ?? ""))
  const at = Math.max(last, 0)
  const hop = hops[at]
  const protocol = schemeOf(request, hops.length, at)
  return request.modify({
    remoteAddress: hop === undefined ? request.remoteAddress : Option.fromUndefinedOr(addressOf(hop)),
    ...(protocol !== undefined && { protocol })
  })
}
