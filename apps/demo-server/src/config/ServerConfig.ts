/**
 * The configuration, read once from the environment.
 *
 * | variable | default | meaning |
 * | --- | --- | --- |
 * | `PORT` | 3000 | port to listen on; 0 takes any that is free |
 * | `HOST` | 127.0.0.1 | address to bind; anything else than loopback is reachable by others |
 * | `SLUICE_DATA` | `.sluice` | folder of the library and of the accounts |
 * | `SLUICE_SAMPLES` | true | `false`: a new library begins empty, without the sample documents |
 * | `SLUICE_DATABASE_URL` | – | a PostgreSQL for the accounts, in place of the SQLite in the folder |
 * | `SLUICE_SYNCHRONOUS` | full | `normal`: what that SQLite has committed survives a crash of the server, not a loss of power |
 * | `SLUICE_GATEWAY_URL` | – | a gateway that answers in place of the embedded models |
 * | `SLUICE_API_KEY` | – | the key for that gateway's `/v1` |
 * | `SLUICE_ACCESS_TOKEN` | – | the system access token for that gateway's `/api` |
 * | `SLUICE_EMBEDDING_MODEL`, `SLUICE_RERANK_MODEL`, `SLUICE_CHAT_MODEL` | – | its models, by identifier; without the last two, those of this process rerank and answer |
 * | `SLUICE_QUERY_PREFIX`, `SLUICE_PASSAGE_PREFIX` | – | what its embedding model wants before a question and before a passage |
 * | `SLUICE_EMBEDDING_BATCH` | 96 | texts that it is sent at a time, at most |
 * | `SLUICE_VISION_MODEL` | – | its model that looks at figures; without it, OCR in this process reads them |
 * | `SLUICE_DESCRIBE_FIGURES` | false | `true`: that model also describes each figure once, when it is brought |
 * | `SLUICE_CONFIG` | `sluice.config.json`, if there | several gateways in place of that one: see docs/providers.md |
 * | `SLUICE_PRICES` | – | a file of prices, by model, that comes before the shipped `prices.json` |
 * | `SLUICE_REQUESTS_PER_MINUTE`, `SLUICE_TOKENS_PER_MINUTE` | – | what each API key may do in a minute; without them, anything |
 * | `SLUICE_KEEP_DAYS` | 400 | how long charges that have ended are kept, which usage is told from: 7 at least |
 * | `SLUICE_SHUTDOWN_SECONDS` | 20 | how long calls under way may take to finish after SIGINT or SIGTERM |
 * | `SLUICE_CALLER_SECONDS` | 30 | how long a caller may be silent in the middle of a request or of taking an answer |
 * | `SLUICE_HOSTS` | – | names by which the server may be called; without them: loopback's where it is bound to loopback, else any |
 * | `SLUICE_TRUSTED_PROXIES` | – | addresses and networks whose X-Forwarded-For and X-Forwarded-Proto are believed |
 * | `SLUICE_LOG` | text | `json`: lines of JSON, on standard error |
 * | `SLUICE_LOG_REQUESTS` | true with `json`, else false | `true`: a line for each request; `false`: what went wrong alone |
 * | `SLUICE_METRICS_TOKEN` | – | opens `/metrics`, as `Authorization: Bearer …`; without it, only loopback reads it |
 * | `OTEL_EXPORTER_OTLP_ENDPOINT` | – | where traces go, as OTLP over HTTP; without it, nowhere |
 * | `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` | –, sluice | what goes with them |
 */
import { ApiKey, SystemAccessToken } from "@sluice/core"
import { Config, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { isAbsolute, resolve } from "node:path"
import { moneyOf, type MoneySettings, moneyVariables } from "./BillingSettings.ts"
import { operationOf, type OperationSettings, operationVariables } from "./OperationSettings.ts"
import type * as NodeSqlite from "../sql/NodeSqlite.ts"
import { StartError } from "./StartError.ts"
import { textVariable } from "./TextVariable.ts"

/** A gateway that answers instead of the embedded models. */
export interface GatewaySettings {
  /** Without a trailing slash. */
  readonly url: string
  readonly apiKey: ApiKey
  readonly accessToken: SystemAccessToken | undefined
  readonly models: {
    readonly embedding: string
    /** Absent: that of this process. */
    readonly rerank: string | undefined
    /** Absent: that of this process. */
    readonly chat: string | undefined
    /** Absent: OCR in this process. */
    readonly vision: string | undefined
  }
  /** What the embedding model wants before a text. */
  readonly prefixes: { readonly query?: string; readonly passage?: string } | undefined
  /** Texts of one request for embeddings, at most. */
  readonly batch: number | undefined
}

/** The port when `PORT` is not set. */
const DEFAULT_PORT = 3000

const variables = Config.unwrap({
  port: textVariable("PORT"),
  host: textVariable("HOST"),
  data: textVariable("SLUICE_DATA"),
  database: Config.Redacted("SLUICE_DATABASE_URL").pipe(Config.option, Config.map(Option.getOrUndefined)),
  synchronous: textVariable("SLUICE_SYNCHRONOUS"),
  url: textVariable("SLUICE_GATEWAY_URL"),
  apiKey: Config.schema(ApiKey, "SLUICE_API_KEY").pipe(Config.option, Config.map(Option.getOrUndefined)),
  accessToken: Config.schema(SystemAccessToken, "SLUICE_ACCESS_TOKEN").pipe(
    Config.option,
    Config.map(Option.getOrUndefined)
  ),
  embedding: textVariable("SLUICE_EMBEDDING_MODEL"),
  rerank: textVariable("SLUICE_RERANK_MODEL"),
  chat: textVariable("SLUICE_CHAT_MODEL"),
  vision: textVariable("SLUICE_VISION_MODEL"),
  query: textVariable("SLUICE_QUERY_PREFIX"),
  passage: textVariable("SLUICE_PASSAGE_PREFIX"),
  batch: Config.schema(
    Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0)),
    "SLUICE_EMBEDDING_BATCH"
  ).pipe(Config.option, Config.map(Option.getOrUndefined)),
  describe: Config.Boolean("SLUICE_DESCRIBE_FIGURES").pipe(Config.option),
  samples: Config.Boolean("SLUICE_SAMPLES").pipe(Config.option),
  operation: operationVariables,
  money: moneyVariables
})

type Variables = Config.Success<typeof variables>

const portOf = ({ port }: Variables): Effect.Effect<number, StartError> => {
  if (port === undefined) return Effect.succeed(DEFAULT_PORT)
  return /^\d{1,5}$/.test(port.trim()) && Number(port) <= 65_535
    ? Effect.succeed(Number(port))
    : Effect.fail(
        new StartError({
          message: "PORT is not a port: give a whole number up to 65535, or 0 for any that is free"
        })
      )
}

const synchronousOf = ({ synchronous = "full" }: Variables) =>
  synchronous === "full" || synchronous === "normal"
    ? Effect.succeed<NodeSqlite.Synchronous>(synchronous)
    : Effect.fail(new StartError({ message: "SLUICE_SYNCHRONOUS is either full or normal" }))

/** Its text is not repeated: a password is in it. */
const databaseOf = ({ database }: Variables): Effect.Effect<Redacted.Redacted | undefined, StartError> => {
  const url = database === undefined ? "" : Redacted.value(database)
  if (url.trim() === "") return Effect.succeed(undefined)
  return URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)
    ? Effect.succeed(database)
    : Effect.fail(
        new StartError({
          message:
            "SLUICE_DATABASE_URL is not a PostgreSQL address; it should look like postgres://user:password@host:5432/name"
        })
      )
}

/** A gateway that is asked for and lacks something is an error that names all of it: never the embedded embeddings instead. */
const gatewayOf = Effect.fn("ServerConfig.gateway")(function* (found: Variables) {
  const { url, apiKey, embedding, rerank, chat, vision, query, passage, batch } = found
  if (url === undefined) return undefined
  const missing = [
    apiKey === undefined && "SLUICE_API_KEY (the key for its /v1, any word where it wants none)",
    embedding === undefined && "SLUICE_EMBEDDING_MODEL"
  ].filter((name) => name !== false)
  if (apiKey === undefined || embedding === undefined) {
    return yield* new StartError({
      message:
        `SLUICE_GATEWAY_URL is set; missing: ${missing.join(", ")}. ` +
        "Set what is missing, or unset SLUICE_GATEWAY_URL to use the embedded models"
    })
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return yield* new StartError({
      message:
        "SLUICE_GATEWAY_URL is not an http or https address; it should look like https://gateway.example"
    })
  }
  return {
    url: url.replace(/\/+$/, "").replace(/\/v1$/, ""),
    apiKey,
    accessToken: found.accessToken,
    models: { embedding, rerank, chat, vision },
    prefixes:
      query === undefined && passage === undefined
        ? undefined
        : { ...(query !== undefined && { query }), ...(passage !== undefined && { passage }) },
    batch
  } satisfies GatewaySettings
})

/** Variables that mean nothing without a gateway: said, not swallowed. */
const strayOf = (found: Variables): ReadonlyArray<string> =>
  found.url !== undefined
    ? []
    : [
        found.apiKey !== undefined && "SLUICE_API_KEY",
        found.accessToken !== undefined && "SLUICE_ACCESS_TOKEN",
        found.embedding !== undefined && "SLUICE_EMBEDDING_MODEL",
        found.rerank !== undefined && "SLUICE_RERANK_MODEL",
        found.chat !== undefined && "SLUICE_CHAT_MODEL",
        found.vision !== undefined && "SLUICE_VISION_MODEL",
        found.query !== undefined && "SLUICE_QUERY_PREFIX",
        found.passage !== undefined && "SLUICE_PASSAGE_PREFIX",
        found.batch !== undefined && "SLUICE_EMBEDDING_BATCH"
      ].filter((name) => name !== false)

/** What the server was told. */
export class ServerConfig extends Context.Service<
  ServerConfig,
  {
    readonly port: number
    /** Whether `PORT` said so. */
    readonly portGiven: boolean
    readonly host: string
    /** Absolute. */
    readonly data: string
    /** Where the accounts are; absent: in the data folder. */
    readonly database: Redacted.Redacted | undefined
    /** What a commit to the file in the data folder waits for: that the disk has it, or that the system does. */
    readonly synchronous: NodeSqlite.Synchronous
    /** Absent: the embedded models answer. */
    readonly gateway: GatewaySettings | undefined
    /** Figures are described when they are brought, so that they are found by what they show. */
    readonly describeFigures: boolean
    /** Whether a new library of the owner begins with the sample documents. */
    readonly samples: boolean
    /** Names of variables that are set and have no effect. */
    readonly stray: ReadonlyArray<string>
    readonly operation: OperationSettings
    readonly money: MoneySettings
  }
>()("@sluice/demo-server/Config") {
  static readonly layer = Layer.effect(
    ServerConfig,
    Effect.gen(function* () {
      const found = yield* variables.pipe(
        Effect.mapError(
          (error) =>
            new StartError({
              message: `The environment is not valid: ${error.message.replaceAll(/\s+/g, " ")}`
            })
        )
      )
      const data = found.data ?? ".sluice"
      return {
        port: yield* portOf(found),
        portGiven: found.port !== undefined,
        host: found.host ?? "127.0.0.1",
        data: isAbsolute(data) ? data : resolve(data),
        database: yield* databaseOf(found),
        synchronous: yield* synchronousOf(found),
        gateway: yield* gatewayOf(found),
        describeFigures: Option.getOrElse(found.describe, () => false),
        samples: Option.getOrElse(found.samples, () => true),
        stray: strayOf(found),
        operation: yield* operationOf(found.operation),
        money: yield* moneyOf(found.money)
      }
    })
  )
}
