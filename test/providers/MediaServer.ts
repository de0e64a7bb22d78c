/** A server whose only upstream is the fake of a vendor. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  type AddressPolicy,
  publicAddressPolicy,
  ServerAddressPolicy
} from "../../apps/demo-server/src/network/PublicFile.ts"
import { priced } from "../demo-server/PaidServer.ts"
import { startServer, temporaryFolder } from "../demo-server/TestServer.ts"

export interface VendorUpstream {
  readonly dialect: string
  readonly url: string
  readonly key: string
  readonly images?: ReadonlyArray<string>
  readonly video?: string
}

/** The alias of a model of images, which has no shipped price. */
export const painterOf = (at: number): string => (at === 0 ? "painter" : `painter-${at}`)

/** The environment of a server with this upstream. Its model of videos has the alias `animator`. */
export const vendorEnv = Effect.fnUntraced(function* ({
  images = [],
  key,
  dialect,
  url,
  video
}: VendorUpstream) {
  const file = join(yield* temporaryFolder, "sluice.config.json")
  const models = [
    ...images.map((id, at) => ({ id, operation: "images", aliases: [painterOf(at)] })),
    ...(video === undefined ? [] : [{ id: video, operation: "videos", aliases: ["animator"] }])
  ]
  const upstream = { id: "vendor", url, dialect, apiKey: { env: "VENDOR_KEY" }, models }
  writeFileSync(file, JSON.stringify({ upstreams: [upstream] }))
  return { ...(yield* priced), SLUICE_CONFIG: file, VENDOR_KEY: key }
})

/** Files of the fakes are on loopback, like nothing that a real vendor links to. */
const loopbackPolicy: AddressPolicy = {
  resolve: publicAddressPolicy.resolve,
  mayReach: (address) => address === "127.0.0.1"
}

export const startVendorServer = Effect.fnUntraced(function* (
  upstream: VendorUpstream,
  policy: AddressPolicy = loopbackPolicy
) {
  const env = yield* vendorEnv(upstream)
  return yield* Effect.provideService(startServer({ env }), ServerAddressPolicy, policy)
})
