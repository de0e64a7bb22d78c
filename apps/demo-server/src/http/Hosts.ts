/** Which names a server that only this machine can reach may be called by. */

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Whether an address to bind is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
  LOOPBACK.has(host) || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host)

/**
 * Whether a `Host` header is one of ours.
 *
 * A page of another site can make its own name resolve to 127.0.0.1 and so be "same origin" with us (DNS rebinding);
 * the Host header still says that name. Bound to another address, the names are not known: any is taken.
 */
export const isOurHost = (header: string | undefined, bound: string): boolean => {
  if (!isLoopback(bound)) return true
  const name = header?.replace(/:\d+$/, "").toLowerCase()
  return name !== undefined && (LOOPBACK.has(name) || name === bound.toLowerCase())
}
