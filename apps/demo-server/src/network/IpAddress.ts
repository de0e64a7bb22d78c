/** IP addresses: lists of allowed networks, and whether an address is on the public internet. */
import ipaddr from "ipaddr.js"
import { isIP } from "node:net"

/** Networks in a list at most. */
const MAX_NETWORKS = 64

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** A network, or a single address. An IPv4 network written as IPv4-mapped IPv6 becomes IPv4. */
const parseNetwork = (text: string): Network | undefined => {
  const [written = "", prefix, ...rest] = text.split("/")
  if (isIP(written) === 0 || written.includes("%") || rest.length > 0) return undefined
  if (prefix !== undefined && !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined
  const address = ipaddr.process(written)
  const bits = address.kind() === "ipv4" ? 32 : 128
  // The prefix of a mapped network counts the 96 bits before its IPv4 address.
  const mappedBits = bits === 32 && isIP(written) === 6 ? 96 : 0
  const length = prefix === undefined ? bits : Number(prefix) - mappedBits
  return length >= 0 && length <= bits ? [address, length] : undefined
}

/** Whether an address is in the list. */
export type Subnet = (address: string) => boolean

/**
 * Parses a list of networks, separated by commas or spaces: `10.0.0.0/8, 2001:db8::/32`, or single addresses.
 *
 * **Details.** The empty string allows every address. Undefined if any entry is invalid, and for blanks only.
 * IPv4-mapped IPv6 addresses count as IPv4.
 */
export const parseSubnet = (text: string): Subnet | undefined => {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "")
  if (entries.length === 0) return text === "" ? () => true : undefined
  if (entries.length > MAX_NETWORKS) return undefined
  const networks = entries.map(parseNetwork).filter((network) => network !== undefined)
  if (networks.length < entries.length) return undefined
  return (address) => {
    const [plain = ""] = address.split("%", 1)
    return isIP(plain) !== 0 && ipaddr.subnetMatch(ipaddr.process(plain), { networks }, "") === "networks"
  }
}

const GLOBAL_UNICAST: Network = [ipaddr.IPv6.parse("2000::"), 3]

/** Whether an address is on the public internet. False for IPv6 addresses that embed an IPv4 address. */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === "unicast" && (parsed.kind() === "ipv4" || parsed.match(GLOBAL_UNICAST))
}
