/** The configurations in which production runs the gateway. */
import { Effect, Exit, Scope } from "effect"
import { startPostgres, withoutPostgres } from "../../test/demo-server/Postgres.ts"
import { say } from "../Bench.ts"

export interface Configuration {
  readonly env: Record<string, string>
  readonly headers: Record<string, string>
  readonly stream: boolean
  readonly close?: () => Promise<void>
}

/** Commits wait for the operating system, not for the disk, except where a configuration says `full`. */
const BASE: Configuration = { env: { SLUICE_SYNCHRONOUS: "normal" }, headers: {}, stream: false }

const withEnv = (env: Record<string, string>): Configuration => ({ ...BASE, env: { ...BASE.env, ...env } })

const postgres = async (): Promise<Configuration | undefined> => {
  if (withoutPostgres !== undefined) {
    say(`the figures with PostgreSQL are left out: ${withoutPostgres}`)
    return undefined
  }
  const scope = Scope.makeUnsafe()
  const { database } = await Effect.runPromise(Scope.provide(startPostgres, scope))
  return {
    ...withEnv({ SLUICE_DATABASE_URL: await Effect.runPromise(database) }),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** Each starts what it needs, or says why it cannot and gives nothing. */
export const CONFIGURATIONS: Readonly<
  Record<string, (collector: string) => Promise<Configuration | undefined>>
> = {
  sqlite: async () => BASE,
  full: async () => withEnv({ SLUICE_SYNCHRONOUS: "full" }),
  postgres,
  traces: async (collector) => withEnv({ OTEL_EXPORTER_OTLP_ENDPOINT: collector }),
  streams: async () => ({ ...BASE, stream: true }),
  proxy: async () => ({
    ...withEnv({ SLUICE_TRUSTED_PROXIES: "127.0.0.1" }),
    headers: { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" }
  })
}
