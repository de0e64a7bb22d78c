/** From which address a request comes. */
import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { ServerConfig } from "../Config.ts"
import type { Subnet } from "./Subnet.ts"

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

/** The address of who makes the request at hand. */
export const makeCallerAddress = Effect.map(ServerConfig, ({ operation: { isTrustedProxy } }) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers, remoteAddress }) =>
    addressOf(
      Option.getOrElse(remoteAddress, () => ""),
      headers["x-forwarded-for"],
      isTrustedProxy
    )
  )
)
