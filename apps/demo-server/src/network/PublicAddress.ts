/** Which addresses are of the public internet: a server that fetches for a caller reaches no others. */
import { BlockList, isIP } from "node:net"

/** IANA's special-purpose registries, and what is not unicast. */
const NOT_PUBLIC_4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3"
] as const

/** Of what is global unicast, 2000::/3: Teredo, documentation, 6to4 and their like carry other addresses in them. */
const NOT_PUBLIC_6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"] as const

const listOf = (family: "ipv4" | "ipv6", subnets: ReadonlyArray<string>): BlockList => {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [address = "", prefix] = subnet.split("/")
    list.addSubnet(address, Number(prefix), family)
  }
  return list
}

const refused4 = listOf("ipv4", NOT_PUBLIC_4)
const refused6 = listOf("ipv6", NOT_PUBLIC_6)
const unicast6 = listOf("ipv6", ["2000::/3"])

/** Whether an address in its usual form is public. Mapped and translated IPv4 addresses in IPv6 form are not. */
export const isPublicAddress = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return !refused4.check(address, "ipv4")
    case 6:
      return unicast6.check(address, "ipv6") && !refused6.check(address, "ipv6")
    default:
      return false
  }
}
