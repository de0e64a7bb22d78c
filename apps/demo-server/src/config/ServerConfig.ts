/** The configuration, read once from the environment. docs/reference/configuration.md has the variables and their defaults. */
import { withoutFinalSlash } from "@sluice/core/contract"
import { ApiKey, SystemAccessToken } from "@sluice/core"
import { Config, ConfigProvider, Context, Effect, Layer, Record, Redacted, Schema, Struct } from "effect"
import { createRequire } from "node:module"
import { resolve } from "node:path"
import type * as NodeSqlite from "../sql/NodeSqlite.ts"
import { billingVariables, parseBilling } from "./BillingSettings.ts"
import { identityVariables, parseIdentity } from "./IdentitySettings.ts"
import { operationVariables, parseOperation } from "./OperationSettings.ts"
import { misspeltVariables } from "./MisspeltVariables.ts"
import { StartError } from "./StartError.ts"
import { withVariableFiles } from "./VariableFiles.ts"
import {
  oneOf,
  invalidVariable,
  isHttpUrl,
  optionalVariable,
  textVariable,
  wholeNumber
} from "./Variables.ts"

/** The version in this package's package.json. */
export const VERSION: string = createRequire(import.meta.url)("../../package.json").version

/** The port when `PORT` is not set. */
const DEFAULT_PORT = 3000

/** The models and prefixes of a gateway. */
const GATEWAY_VARIABLES = {
  embedding: "SLUICE_EMBEDDING_MODEL",
  rerank: "SLUICE_RERANK_MODEL",
  chat: "SLUICE_CHAT_MODEL",
  vision: "SLUICE_VISION_MODEL",
  verify: "SLUICE_VERIFY_MODEL",
  query: "SLUICE_QUERY_PREFIX",
  passage: "SLUICE_PASSAGE_PREFIX"
} as const

/** Variables that may be in files: `SLUICE_API_KEY_FILE` is the path of a file with the key. */
const SECRETS: ReadonlySet<string> = new Set([
  "SLUICE_DATABASE_URL",
  "LANCEDB_API_KEY",
  "SLUICE_API_KEY",
  "SLUICE_ACCESS_TOKEN",
  "SLUICE_METRICS_TOKEN",
  "SLUICE_ADMIN_TOKEN",
  "SLUICE_ADMIN_API_KEY",
  "SLUICE_OIDC_CLIENT_SECRET"
])

const PositiveInt = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0))

const variables = Config.unwrap({
  ...Record.map(GATEWAY_VARIABLES, textVariable),
  port: textVariable("PORT"),
  host: textVariable("HOST"),
  data: textVariable("SLUICE_DATA"),
  documents: textVariable("SLUICE_DOCUMENTS"),
  enterprise: {
    apiKey: optionalVariable(Config.Redacted("LANCEDB_API_KEY")),
    region: textVariable("LANCEDB_REGION"),
    hostOverride: textVariable("LANCEDB_HOST")
  },
  database: optionalVariable(Config.Redacted("SLUICE_DATABASE_URL")),
  synchronous: textVariable("SLUICE_SYNCHRONOUS"),
  verifier: textVariable("SLUICE_VERIFIER"),
  scans: textVariable("SLUICE_SCANS"),
  nliModel: textVariable("SLUICE_NLI_MODEL"),
  localModels: textVariable("SLUICE_LOCAL_MODELS"),
  localServers: textVariable("SLUICE_LOCAL_SERVERS"),
  url: textVariable("SLUICE_GATEWAY_URL"),
  apiKey: optionalVariable(Config.schema(ApiKey, "SLUICE_API_KEY")),
  accessToken: optionalVariable(Config.schema(SystemAccessToken, "SLUICE_ACCESS_TOKEN")),
  adminToken: textVariable("SLUICE_ADMIN_TOKEN"),
  adminApiKey: textVariable("SLUICE_ADMIN_API_KEY"),
  openAiUrl: textVariable("OPENAI_BASE_URL"),
  openAiKey: optionalVariable(Config.Redacted("OPENAI_API_KEY")),
  batch: optionalVariable(Config.schema(PositiveInt, "SLUICE_EMBEDDING_BATCH")),
  scannedPages: optionalVariable(Config.schema(PositiveInt, "SLUICE_SCANNED_PAGES")),
  describe: optionalVariable(Config.Boolean("SLUICE_DESCRIBE_FIGURES")),
  samples: optionalVariable(Config.Boolean("SLUICE_SAMPLES")),
  operation: operationVariables,
  billing: billingVariables,
  identity: identityVariables
})

type Variables = Config.Success<typeof variables>

/** How the sentences of an answer are verified. */
const VERIFIERS = ["embedded", "strict", "model", "nli"] as const

/** Undefined: by the model that `SLUICE_VERIFY_MODEL` or the providers' file names, if one does. */
const parseVerifier = ({ nliModel, verifier }: Variables) => {
  if (verifier === "nli" && nliModel === undefined)
    return invalidVariable("SLUICE_VERIFIER is nli. Set SLUICE_NLI_MODEL to the folder of the model")
  return verifier === undefined
    ? Effect.succeed(undefined)
    : oneOf<(typeof VERIFIERS)[number]>("SLUICE_VERIFIER", verifier, VERIFIERS)
}

const parseData = (data = ".sluice") =>
  data.includes("://")
    ? invalidVariable(
        "SLUICE_DATA must be a folder. Set SLUICE_DOCUMENTS to the object store: accounts and caches stay in the folder"
      )
    : Effect.succeed(resolve(data))

/** Addresses of object stores and of LanceDB Enterprise. */
const STORE_ADDRESS = /^(?:s3|gs|az|db):\/\/[^/]/

/** A folder as an absolute path, or an address without a trailing slash. Undefined: the data folder. */
const parseDocuments = (documents: string | undefined) => {
  if (documents === undefined) return Effect.succeed(undefined)
  if (!documents.includes("://")) return Effect.succeed(resolve(documents))
  return STORE_ADDRESS.test(documents)
    ? Effect.succeed(withoutFinalSlash(documents))
    : invalidVariable(
        "SLUICE_DOCUMENTS must be a folder, or an address that begins with s3://, gs://, az:// or db://"
      )
}

/** The message does not repeat the address: it contains a password. */
const parseDatabase = (database: Redacted.Redacted | undefined) => {
  const url = database === undefined ? "" : Redacted.value(database)
  if (url.trim() === "") return Effect.succeed(undefined)
  return URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)
    ? Effect.succeed(database)
    : invalidVariable(
        "SLUICE_DATABASE_URL is not a PostgreSQL address such as postgres://user:password@host:5432/name"
      )
}

/** Characters of a credential that an administrator chooses. A fast hash is safe only for long random ones. */
const MIN_SECRET_LENGTH = 32

/** A first credential of the owner. The message does not repeat it. */
const parseFirstSecret = (name: string, value: string | undefined, prefix: string) => {
  if (value === undefined) return Effect.succeed(undefined)
  return value.startsWith(prefix) && value.length >= MIN_SECRET_LENGTH && /^[\w-]+$/.test(value)
    ? Effect.succeed(Redacted.make(value))
    : invalidVariable(
        `${name} must begin with ${prefix} and have at least ${MIN_SECRET_LENGTH} letters and digits`
      )
}

/** Names every missing variable. There is no fallback to the embedded models. */
const parseGateway = Effect.fn("ServerConfig.gateway")(function* (found: Variables) {
  const { url, apiKey, embedding, rerank, chat, vision, verify, query, passage, batch } = found
  if (url === undefined) return undefined
  if (found.localModels !== undefined) {
    return yield* invalidVariable("SLUICE_LOCAL_MODELS and SLUICE_GATEWAY_URL name models. Unset one of them")
  }
  const missing = [
    apiKey === undefined && "SLUICE_API_KEY (its API key for /v1; any word if it needs none)",
    embedding === undefined && "SLUICE_EMBEDDING_MODEL"
  ].filter((name) => name !== false)
  if (apiKey === undefined || embedding === undefined) {
    const message =
      `SLUICE_GATEWAY_URL is set, but these are missing: ${missing.join(", ")}. ` +
      "Set them, or unset SLUICE_GATEWAY_URL to use the embedded models"
    return yield* new StartError({ message })
  }
  if (!isHttpUrl(url)) {
    return yield* invalidVariable(
      "SLUICE_GATEWAY_URL must be an http or https address such as https://gateway.example"
    )
  }
  return {
    /** Without a trailing slash. */
    url: withoutFinalSlash(url).replace(/\/v1$/, ""),
    apiKey,
    accessToken: found.accessToken,
    models: { embedding, rerank, chat, vision, verify },
    prefixes:
      query === undefined && passage === undefined
        ? undefined
        : { ...(query !== undefined && { query }), ...(passage !== undefined && { passage }) },
    batch
  }
})

/**
 * The address of OpenAI, or of a compatible server, in the variables of OpenAI's own libraries. Both are needed: a key
 * alone is in many environments, and does not mean that documents may be sent there.
 */
const parseOpenAi = ({ openAiKey, openAiUrl, url }: Variables) => {
  if (url !== undefined || openAiUrl === undefined || openAiKey === undefined)
    return Effect.succeed(undefined)
  return isHttpUrl(openAiUrl)
    ? Effect.succeed(openAiUrl)
    : invalidVariable("OPENAI_BASE_URL must be an http or https address such as https://api.openai.com/v1")
}

/** A gateway to use in place of the embedded models. Embedded ones stand for the models that it does not name. */
export type GatewaySettings = NonNullable<Effect.Success<ReturnType<typeof parseGateway>>>

/** Variables that have no effect without a gateway, to warn about. */
const unusedVariables = (found: Variables): ReadonlyArray<string> => {
  if (found.url !== undefined) return []
  const names = {
    apiKey: "SLUICE_API_KEY",
    accessToken: "SLUICE_ACCESS_TOKEN",
    ...GATEWAY_VARIABLES,
    batch: "SLUICE_EMBEDDING_BATCH"
  } as const
  return Struct.keys(names).flatMap((field) => (found[field] === undefined ? [] : names[field]))
}

export class ServerConfig extends Context.Service<ServerConfig>()("@sluice/demo-server/Config", {
  make: Effect.gen(function* () {
    const environment = yield* ConfigProvider.ConfigProvider
    const known = new Set<string>()
    const provider = ConfigProvider.mapInput(withVariableFiles(environment, SECRETS), (path) => {
      known.add(path.join("_"))
      return path
    })
    const found = yield* Effect.mapError(
      variables.parse(provider),
      ({ cause }) =>
        new StartError({ message: `Invalid environment: ${cause.message.replaceAll(/\s+/g, " ")}` })
    )
    const data = yield* parseData(found.data)
    const documents = yield* parseDocuments(found.documents)
    return {
      port: yield* wholeNumber(
        "PORT",
        found.port ?? DEFAULT_PORT,
        0,
        65_535,
        "up to 65535, or 0 for any free port"
      ),
      /** Whether `PORT` is set. */
      portGiven: found.port !== undefined,
      host: found.host ?? "127.0.0.1",
      /** Absolute. */
      data,
      /** Where libraries and media files are: a folder, or the address of a store that several servers may share. */
      documents: documents ?? data,
      /** How LanceDB Enterprise is reached. Object stores are reached by the variables that LanceDB reads itself. */
      enterprise: found.enterprise,
      /** The PostgreSQL database of the accounts. Undefined: SQLite in the data folder. */
      database: yield* parseDatabase(found.database),
      /** Whether an SQLite commit waits for the disk (`full`) or for the operating system (`normal`). */
      synchronous: yield* oneOf<NodeSqlite.Synchronous>("SLUICE_SYNCHRONOUS", found.synchronous ?? "full", [
        "full",
        "normal"
      ]),
      /** Undefined: the embedded models are used. */
      gateway: yield* parseGateway(found),
      /** `OPENAI_BASE_URL`, for a server without a providers' file. Its key is in `OPENAI_API_KEY`. */
      openAi: yield* parseOpenAi(found),
      /** The set of local models that embeds and reranks. Undefined: the embedded ones do. */
      localModels: found.localModels,
      verifier: yield* parseVerifier(found),
      /** What reads scanned pages: OCR, or the vision model. */
      scans: yield* oneOf<"model" | "ocr">("SLUICE_SCANS", found.scans ?? "ocr", ["model", "ocr"]),
      /** The folder of the model of natural language inference. */
      nliModel: found.nliModel,
      /** Where model servers of this machine listen, if not on their usual ports: `ollama=12000,tei=8081`. */
      localServers: found.localServers,
      /** The owner's first credentials. Undefined: random ones, which are printed. */
      firstSecrets: {
        accessToken: yield* parseFirstSecret("SLUICE_ADMIN_TOKEN", found.adminToken, "sat-"),
        apiKey: yield* parseFirstSecret("SLUICE_ADMIN_API_KEY", found.adminApiKey, "sk-")
      },
      /** The provider of OpenID Connect. Undefined: people sign in with tokens, keys and invitations. */
      identity: yield* parseIdentity(found.identity),
      /** How documents are read. */
      reading: {
        describeFigures: found.describe ?? false,
        ...(found.scannedPages !== undefined && { scannedPages: found.scannedPages })
      },
      // Several servers of one store would add them again after they were deleted.
      samples: found.samples ?? documents === undefined,
      /** Variables that are set and have no effect. */
      unusedVariables: unusedVariables(found),
      /** Variables that are set and not read, each with the one that it may be meant to be. */
      misspeltVariables: yield* misspeltVariables(environment, known),
      operation: yield* parseOperation(found.operation),
      billing: yield* parseBilling(found.billing)
    }
  })
}) {
  static readonly layer = Layer.effect(ServerConfig, ServerConfig.make)
}
