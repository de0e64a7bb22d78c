/** Subnets of keys, over IPv4, IPv6, IPv4-mapped IPv6, and behind a proxy. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { networkInterfaces } from "node:os"
import { MadeKey } from "./AccountCalls.ts"
import { startServer } from "./TestServer.ts"

const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1")
)

const start = (env: Record<string, string>) =>
  Effect.map(startServer({ env }), ({ json, url }) => {
    const port = new URL(url).port
    /** The status of a call with a key of the given subnet. */
    const statusOf = (subnet: string, host: string, headers: Record<string, string> = {}) =>
      Effect.gen(function* () {
        const token = { name: "held", expired_time: -1, remain_quota: 1, subnet }
        const { key } = (yield* json(MadeKey, "/api/token/", { as: "token", json: token })).data
        return yield* Effect.promise(async () => {
          const authorization = `Bearer ${key}`
          const response = await fetch(`http://${host}:${port}/v1/models`, {
            headers: { authorization, ...headers }
          })
          await response.arrayBuffer()
          return response.status
        })
      })
    return statusOf
  })

describe("a key's subnets", () => {
  // Skipped: where the machine has no IPv6.
  it.live.skipIf(!hasIPv6)("apply to IPv4, IPv6 and IPv4-mapped addresses", () =>
    Effect.gen(function* () {
      // On a dual-stack socket, IPv4 callers are ::ffff:127.0.0.1.
      const statusOf = yield* start({ HOST: "::" })
      for (const [subnet, host, expected] of [
        ["127.0.0.0/8", "127.0.0.1", 200],
        ["::ffff:127.0.0.0/104", "127.0.0.1", 200],
        ["::1", "127.0.0.1", 403],
        ["::/0", "127.0.0.1", 403],
        ["::1/128", "[::1]", 200],
        ["127.0.0.0/8", "[::1]", 403],
        ["0.0.0.0/0", "[::1]", 403],
        ["10.0.0.0/8, ::/64", "[::1]", 200],
        ["", "[::1]", 200]
      ] as const) {
        assert.strictEqual(yield* statusOf(subnet, host), expected, `${subnet} from ${host}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("use the address from a trusted proxy, and from no one else", () =>
    Effect.gen(function* () {
      const forwarded = (text: string) => ({ "x-forwarded-for": text })
      const direct = yield* start({})
      assert.strictEqual(yield* direct("10.0.0.0/8", "127.0.0.1", forwarded("10.1.1.1")), 403)
      assert.strictEqual(yield* direct("127.0.0.0/8", "127.0.0.1", forwarded("10.1.1.1")), 200)
      const proxied = yield* start({ SLUICE_TRUSTED_PROXIES: "127.0.0.0/8, ::1" })
      for (const [said, expected] of [
        ["10.1.1.1", 200],
        // Only the last entry was written by the proxy.
        ["10.1.1.1, 203.0.113.7", 403],
        ["203.0.113.7, 10.1.1.1", 200],
        ["nonsense", 403],
        ["10.1.1.1, nonsense", 403]
      ] as const) {
        assert.strictEqual(yield* proxied("10.0.0.0/8", "127.0.0.1", forwarded(said)), expected, said)
      }
    }).pipe(Effect.scoped)
  )
})
