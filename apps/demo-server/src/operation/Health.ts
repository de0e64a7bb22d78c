/**
 * `/healthz`: the process runs. `/readyz`: whether the server can serve, and why not. Both are public and show no secrets.
 */
import { Effect, FileSystem, Path } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { OWNER } from "../accounts/Owner.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"
import { Providers, unlistedModels } from "../routing/Providers.ts"
import { ProvidersFileState } from "./ProvidersFileState.ts"
import { isDamage } from "../sql/NodeSqlite.ts"
import { Shutdown } from "../http/Shutdown.ts"

/** The size of the largest write of the accounts. */
const PROBE = new Uint8Array(64 * 1024)

/**
 * `ok`, or a description of the fault; `fault` if the check fails or takes longer than 2 seconds. Descriptions are fixed:
 * other messages may contain addresses and passwords.
 */
const checkOrFault = <E, R>(fault: string, check: Effect.Effect<string, E, R>) =>
  check.pipe(
    Effect.timeout("2 seconds"),
    Effect.catchCause(() => Effect.succeed(fault))
  )

/** Reported, but the server stays ready: only the owner's documents are affected. */
const REPORTED: { readonly [state: string]: string } = {
  "rebuild-needed": "the owner's documents need `POST /rebuild`",
  damaged: "the owner's documents are damaged: restore them from a copy, or run `sluice doctor`"
}

/** Checks each part of the server. */
const readiness = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const owners = yield* (yield* UserLibraries).of(OWNER)
  const providers = yield* Providers
  const shutdown = yield* Shutdown

  const database = checkOrFault(
    "the database does not respond",
    sql.onDialectOrElse({
      orElse: () =>
        Effect.as(sql`SELECT 1`, "ok").pipe(
          Effect.catchIf(isDamage, () =>
            Effect.succeed("the accounts are damaged: restore accounts.db from a copy")
          )
        ),
      // Standby databases are read-only.
      pg: () =>
        Effect.map(
          sql<{ readonly state: string }>`SELECT current_setting('transaction_read_only') AS state`,
          ([row]) => (row?.state === "off" ? "ok" : "the database is read-only")
        )
    })
  )
  const library = checkOrFault(
    "the library cannot be read",
    Effect.map(
      owners.readiness,
      ({ state }) => REPORTED[state] ?? (state === "unavailable" ? `the library is not open: ${state}` : "ok")
    )
  )
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { data } = yield* ServerConfig
  const file = path.join(data, "room.new")
  const write = fs
    .writeFile(file, PROBE, { mode: 0o600 })
    .pipe(Effect.ensuring(Effect.ignore(fs.remove(file))), Effect.as("ok"))
  const disk = yield* Effect.cachedWithTTL(
    checkOrFault("the data folder cannot be written: its disk is full or read-only", write),
    "1 second"
  )
  const check = Effect.map(Effect.all({ database, library, disk }, { concurrency: 3 }), (checks) => ({
    ...checks,
    providers: providers.length > 0 ? "ok" : "no provider is configured",
    server: shutdown.hasBegun() ? "the server is stopping" : "ok"
  }))
  return { check }
})

const FINE: ReadonlySet<string> = new Set(["ok", ...Object.values(REPORTED)])

/** Reported, but the server stays ready: the previous configuration stays in use. */
const REJECTED = "the last change of the providers file was rejected: see the log"

export const HealthLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { check } = yield* readiness
    const { isRejected } = yield* ProvidersFileState
    const providers = yield* Providers
    /** Reported, but the server stays ready. */
    const config = () => (isRejected() ? REJECTED : unlistedModels(providers) || "ok")
    yield* router.add("GET", "/healthz", HttpServerResponse.jsonUnsafe({ status: "ok" }))
    yield* router.add(
      "GET",
      "/readyz",
      Effect.map(check, (checks) => {
        const isReady = Object.values(checks).every((check) => FINE.has(check))
        return HttpServerResponse.jsonUnsafe(
          { status: isReady ? "ready" : "not_ready", checks, config: config() },
          { status: isReady ? 200 : 503, headers: isReady ? {} : { "retry-after": "5" } }
        )
      })
    )
  })
)
