/**
 * `/healthz`: the process runs. `/readyz`: whether the server can serve, and why not. Both are public and show no
 * secrets.
 */
import { Duration, Effect, FileSystem, Layer, Path } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { OWNER } from "../accounts/Owner.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"
import { Providers } from "../routing/Providers.ts"
import { ProvidersFileState } from "./ProvidersFileState.ts"
import { Shutdown } from "../http/Shutdown.ts"

/** Probes come every few seconds. */
const PATIENCE = Duration.seconds(2)

/** The disk is written once in this time, however often anybody asks. */
const DISK_LASTS = Duration.seconds(1)

/** As much as the accounts write at once. */
const ROOM = new Uint8Array(64 * 1024)

/** `ok`, or what is wrong in our own words: other messages may have addresses and passwords. */
type Check = "ok" | (string & {})

/** A check that takes too long fails. */
const checked = <E, R>(check: Effect.Effect<Check, E, R>, otherwise: Check) =>
  check.pipe(
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.succeed(otherwise) }),
    Effect.catchCause(() => Effect.succeed(otherwise))
  )

/** Reported, but the server stays ready: only the owner's documents wait. */
const REBUILD = "the owner's documents wait for `POST /rebuild`"

/** Checks each part of the server. */
const readiness = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const owners = yield* (yield* UserLibraries).of(OWNER)
  const providers = yield* Providers
  const shutdown = yield* Shutdown

  const database = checked(
    sql.onDialectOrElse({
      orElse: () => Effect.as(sql`SELECT 1`, "ok"),
      // Standby databases are read-only.
      pg: () =>
        Effect.map(
          sql<{ readonly state: string }>`SELECT current_setting('transaction_read_only') AS state`,
          ([row]) => (row?.state === "off" ? "ok" : "the database takes no writes")
        )
    }),
    "the database does not answer"
  )
  const library = checked(
    Effect.map(owners.state, ({ state }) => {
      if (state === "rebuild-needed") return REBUILD
      return state === "unavailable" ? `the library is not open: ${state}` : "ok"
    }),
    "the library cannot be read"
  )
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { data } = yield* ServerConfig
  const room = path.join(data, "room.new")
  // A full disk still serves, and may take a few bytes now and then.
  const write = fs
    .writeFile(room, ROOM, { mode: 0o600 })
    .pipe(Effect.ensuring(Effect.ignore(fs.remove(room))), Effect.as("ok"))
  const disk = yield* Effect.cachedWithTTL(
    checked(write, "the data folder cannot be written: its disk is full, or takes nothing"),
    DISK_LASTS
  )
  const ask = Effect.map(Effect.all({ database, library, disk }, { concurrency: 3 }), (asked) => ({
    ...asked,
    providers: providers.length > 0 ? "ok" : "no provider is configured",
    server: shutdown.hasBegun() ? "the server is stopping" : "ok"
  }))
  return { ask }
})

/** Reported, but the server stays ready: the previous configuration stays in use. */
const REFUSED = "the providers' file has a change that was not taken over: the log says why"

const LivenessLayer = HttpRouter.add("GET", "/healthz", HttpServerResponse.jsonUnsafe({ status: "ok" }))

const ReadinessLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { ask } = yield* readiness
    const { isRefused } = yield* ProvidersFileState
    yield* router.add(
      "GET",
      "/readyz",
      Effect.map(ask, (checks) => {
        const isReady = Object.values(checks).every((check) => check === "ok" || check === REBUILD)
        return HttpServerResponse.jsonUnsafe(
          { status: isReady ? "ready" : "not_ready", checks, config: isRefused() ? REFUSED : "ok" },
          { status: isReady ? 200 : 503, headers: isReady ? {} : { "retry-after": "5" } }
        )
      })
    )
  })
)

export const HealthLayer = Layer.mergeAll(LivenessLayer, ReadinessLayer)
