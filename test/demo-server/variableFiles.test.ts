/** Secrets from files, and the owner's first credentials from the configuration. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { ServerConfig } from "../../apps/demo-server/src/config/ServerConfig.ts"
import { startServer, temporaryFolder } from "./TestServer.ts"

const configured = (env: Record<string, string>) =>
  Effect.provideService(ServerConfig.make, ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(env))

const secretFile = Effect.fnUntraced(function* (content: string) {
  const file = join(yield* temporaryFolder, "secret")
  yield* Effect.promise(() => writeFile(file, content))
  return file
})

const TOKEN = `sat-${"a".repeat(48)}`

describe("a secret in a file", () => {
  it.live("is read without the spaces around it", () =>
    Effect.gen(function* () {
      const file = yield* secretFile("  postgres://u:p@127.0.0.1/db\n")
      const { database } = yield* configured({ SLUICE_DATABASE_URL_FILE: file })
      assert.strictEqual(database && Redacted.value(database), "postgres://u:p@127.0.0.1/db")
    }).pipe(Effect.scoped)
  )

  it.live("that cannot be read stops the start, and is named", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(configured({ SLUICE_METRICS_TOKEN_FILE: "/absent/token" }))
      assert.match(message, /^SLUICE_METRICS_TOKEN_FILE names a file that cannot be read: \/absent\/token$/)
    })
  )

  it.live("beside the variable itself stops the start, without a value in the message", () =>
    Effect.gen(function* () {
      const file = yield* secretFile("canary-in-file")
      const env = { SLUICE_METRICS_TOKEN: "canary-in-variable", SLUICE_METRICS_TOKEN_FILE: file }
      const { message } = yield* Effect.flip(configured(env))
      assert.match(message, /SLUICE_METRICS_TOKEN and SLUICE_METRICS_TOKEN_FILE are both set/)
      assert.notMatch(message, /canary/)
    }).pipe(Effect.scoped)
  )

  it.live("that is empty stops the start", () =>
    Effect.gen(function* () {
      const file = yield* secretFile("\n")
      const { message } = yield* Effect.flip(configured({ SLUICE_DATABASE_URL_FILE: file }))
      assert.match(message, /SLUICE_DATABASE_URL_FILE names an empty file/)
    }).pipe(Effect.scoped)
  )

  it.live("counts where the variable itself is blank, and a blank file name is none", () =>
    Effect.gen(function* () {
      const file = yield* secretFile("postgres://u:p@127.0.0.1/db")
      const { database } = yield* configured({ SLUICE_DATABASE_URL: " ", SLUICE_DATABASE_URL_FILE: file })
      assert.isDefined(database)
      const { operation } = yield* configured({ SLUICE_METRICS_TOKEN_FILE: "" })
      assert.isUndefined(operation.metricsToken)
    }).pipe(Effect.scoped)
  )

  it.live("is not read for other variables", () =>
    Effect.gen(function* () {
      const { port } = yield* configured({ PORT: "4", PORT_FILE: "/absent" })
      assert.strictEqual(port, 4)
    })
  )
})

describe("the owner's first credentials", () => {
  it.live("are those of the configuration, and are not printed", () =>
    Effect.gen(function* () {
      const file = yield* secretFile(TOKEN)
      const server = yield* startServer({ env: { SLUICE_ADMIN_TOKEN_FILE: file } })
      const answer = yield* server.call("/api/user/self", {
        as: "none",
        headers: { authorization: `Bearer ${TOKEN}` }
      })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(server.secrets.accessToken, "")
      assert.notInclude(server.printed.join("\n"), TOKEN)
      assert.match(server.secrets.apiKey, /^sk-/)
    }).pipe(Effect.scoped)
  )

  it.live("are rejected where they are short, without being shown", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(configured({ SLUICE_ADMIN_TOKEN: "sat-canary" }))
      assert.match(message, /SLUICE_ADMIN_TOKEN must begin with sat- and have at least 32/)
      assert.notMatch(message, /canary/)
    })
  )
})
