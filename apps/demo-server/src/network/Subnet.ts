/** From which addresses a key may be used: a list of CIDRs, IPv4 and IPv6. */
import { BlockList, isIPv4, isIPv6 } from "node:net"

/** Networks of a list at most. */
const MAX_NETWORKS = 64

/** `::ffff:10.0.0.1`, and the same in hexadecimal, is 10.0.0.1. */
const unmapped = (address: string): string => {
  const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (plain !== undefined) return plain
  const [, high, low] = /^(?:::|(?:0{1,4}:){5})ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) ?? []
  if (high === undefined || low === undefined) return address
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`
}

/** A list for each family: Node's own takes IPv4 addresses for IPv6 ones, so that `::/0` would hold all of them. */
interface Networks {
  readonly ipv4: BlockList
  readonly ipv6: BlockList
}

/** Adds one network or address; whether it is one. */
const addNetwork = (lists: Networks, text: string): boolean => {
  const [written = "", prefix, ...rest] = text.split("/")
  const address = unmapped(written)
  const family = isIPv4(address) ? "ipv4" : isIPv6(address) && !address.includes("%") ? "ipv6" : undefined
  if (family === undefined || rest.length > 0) return false
  const bits = family === "ipv4" ? 32 : 128
  const list = lists[family]
  if (prefix === undefined) {
    list.addAddress(address, family)
    return true
  }
  if (!/^(0|[1-9]\d{0,2})$/.test(prefix)) return false
  // A mapped network counts the 96 bits before its IPv4 address.
  const length = Number(prefix) - (address === written ? 0 : 96)
  if (length < 0 || length > bits) return false
  list.addSubnet(address, length, family)
  return true
}

/** Whether an address may pass. */
export type Subnet = (address: string) => boolean

/**
 * Reads a list of networks, separated by commas or spaces: `10.0.0.0/8, 2001:db8::/32`, or single addresses.
 *
 * **Details.** Empty: every address. Undefined where any of it is no network, and for blanks alone: a list that is half
 * understood is none. IPv4 addresses that come mapped into IPv6 are IPv4 addresses.
 */
export const parseSubnet = (text: string): Subnet | undefined => {
  const networks = text.split(/[\s,]+/).filter((network) => network !== "")
  if (networks.length === 0) return text === "" ? () => true : undefined
  if (networks.length > MAX_NETWORKS) return undefined
  const lists: Networks = { ipv4: new BlockList(), ipv6: new BlockList() }
  if (!networks.every((network) => addNetwork(lists, network))) return undefined
  return (address) => {
    const plain = unmapped(address.replace(/%.*$/, ""))
    if (isIPv4(plain)) return lists.ipv4.check(plain, "ipv4")
    return isIPv6(plain) && lists.ipv6.check(plain, "ipv6")
  }
}
