/** The accounts' storage: first start, versions of the data folder, subnets. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer } from "effect"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { SignIn } from "../../apps/demo-server/src/accounts/SignIn.ts"
import { ApiKeys } from "../../apps/demo-server/src/accounts/ApiKeys.ts"
import { DatabaseLayer } from "../../apps/demo-server/src/database/Database.ts"
import { parseSubnet } from "../../apps/demo-server/src/network/IpAddress.ts"
import { Users } from "../../apps/demo-server/src/accounts/Users.ts"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { startServer, temporaryFolder } from "./TestServer.ts"

/** The accounts' services, with their database. */
const accountsIn = (data: string) =>
  Layer.mergeAll(SignIn.layer, ApiKeys.layer, Users.layer).pipe(
    Layer.provideMerge(DatabaseLayer),
    Layer.provide(ServerConfig.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ SLUICE_DATA: data }))),
    Layer.provide(NodeServices.layer)
  )

/** The message of a failed start. */
const refused = (data: string) =>
  Effect.map(Effect.flip(Effect.scoped(Layer.build(accountsIn(data)))), ({ message }) => message)

describe("a data folder", () => {
  it.live("has files readable only by their owner, without secrets", () =>
    Effect.gen(function* () {
      const { data, secrets } = yield* startServer()
      const files = readdirSync(data).filter((name) => name.startsWith("accounts."))
      assert.includeMembers(files, ["accounts.db"])
      for (const file of files) {
        if (process.platform !== "win32") assert.strictEqual(statSync(join(data, file)).mode & 0o077, 0, file)
        const content = readFileSync(join(data, file), "latin1")
        for (const secret of Object.values(secrets)) assert.notInclude(content, secret)
      }
    }).pipe(Effect.scoped)
  )

  it.live("of a newer version is rejected", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      yield* Effect.scoped(Layer.build(accountsIn(data)))
      const database = new DatabaseSync(join(data, "accounts.db"))
      database.exec("INSERT INTO migrations (migration_id, name) VALUES (999, 'later')")
      database.close()
      assert.match(yield* refused(data), /newer version.*SLUICE_DATA/)
    }).pipe(Effect.scoped)
  )

  it.live("in use by another server is rejected until that server stops", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(accountsIn(data))
          assert.match(yield* refused(data), /in use by another server.*SLUICE_DATA/)
        })
      )
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(Effect.scoped(Layer.build(accountsIn(data))))))
    }).pipe(Effect.scoped)
  )

  it.live("with a damaged database is rejected and not changed", () =>
    Effect.gen(function* () {
      const data = yield* temporaryFolder
      const file = join(data, "accounts.db")
      writeFileSync(file, "no database at all, but long enough to be looked at as if it were one".repeat(20))
      const before = readFileSync(file)
      assert.match(yield* refused(data), /not a database.*SLUICE_DATA/)
      assert.isTrue(before.equals(readFileSync(file)))
    }).pipe(Effect.scoped)
  )
})

describe("subnets", () => {
  const cases: ReadonlyArray<
    readonly [subnet: string, inside: ReadonlyArray<string>, outside: ReadonlyArray<string>]
  > = [
    ["", ["1.2.3.4", "::1"], []],
    [
      "10.0.0.0/8",
      ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3", "::FFFF:a01:203"],
      ["11.0.0.0", "9.255.255.255", "::1"]
    ],
    ["10.9.8.7/8", ["10.0.0.1"], ["11.0.0.1"]],
    ["192.168.1.7", ["192.168.1.7", "::ffff:192.168.1.7"], ["192.168.1.8"]],
    ["192.168.1.7/32", ["192.168.1.7"], ["192.168.1.6"]],
    ["0.0.0.0/0", ["1.1.1.1", "::ffff:1.1.1.1"], ["2001:db8::1", "::1"]],
    ["2001:db8::/32", ["2001:db8::1", "2001:DB8:ffff::"], ["2001:db9::1", "10.0.0.1"]],
    ["::/0", ["::1", "2001:db8::1"], ["127.0.0.1", "::ffff:10.0.0.1"]],
    ["::/64", ["::1"], ["127.0.0.1", "::ffff:10.0.0.1", "::ffff:a00:1"]],
    ["::1/128", ["::1", "0:0:0:0:0:0:0:1"], ["::2", "127.0.0.1"]],
    ["::ffff:10.0.0.0/104", ["10.2.3.4", "::ffff:10.2.3.4"], ["11.0.0.1"]],
    ["fe80::/10", ["fe80::1%eth0"], ["fec0::1"]],
    [
      "10.0.0.0/8, 172.16.0.0/12\n2001:db8::/32",
      ["10.1.1.1", "172.31.0.1", "2001:db8::5"],
      ["172.32.0.1", ""]
    ]
  ]
  for (const [subnet, inside, outside] of cases) {
    it(`${JSON.stringify(subnet)} allows exactly the addresses in it`, () => {
      const allows = parseSubnet(subnet)
      for (const address of inside) assert.isTrue(allows?.(address), address)
      for (const address of outside) assert.isFalse(allows?.(address), address)
    })
  }

  const invalid = [
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/08",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0/8",
    "010.0.0.1",
    "0x7f.1",
    "localhost",
    "2001:db8::/129",
    "::ffff:10.0.0.0/8",
    "fe80::1%eth0",
    "10.0.0.0/8;11.0.0.0/8",
    ",",
    "   ",
    "\n",
    Array.from({ length: 65 }, () => "10.0.0.1").join(",")
  ]
  for (const subnet of invalid) {
    it(`${JSON.stringify(subnet).slice(0, 30)} is not a list of networks`, () => {
      assert.isUndefined(parseSubnet(subnet))
    })
  }
})
