/** Which names the server may be called by. */

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Whether an address to bind is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
  LOOPBACK.has(host) || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host)

/** Whether a name is surely ours: loopback's, one of `names`, or the loopback address that we are bound to. */
export const isOurName = (name: string, bound: string, names: ReadonlyArray<string> = []): boolean =>
  LOOPBACK.has(name) || names.includes(name) || (isLoopback(bound) && name === bound.toLowerCase())

/**
 * Whether a `Host` header is one of ours.
 *
 * A page of another site can make its own name resolve to our address and so be "same origin" with us (DNS rebinding);
 * the Host header still says that name. Bound to loopback, or with `names`, only loopback's names and those are ours;
 * bound to another address without `names`, they are not known: any is taken.
 */
export const isOurHost = (
  header: string | undefined,
  bound: string,
  names: ReadonlyArray<string> = []
): boolean => {
  if (header === undefined) return false
  if (names.length === 0 && !isLoopback(bound)) return true
  return isOurName(header.replace(/:\d+$/, "").toLowerCase(), bound, names)
}
