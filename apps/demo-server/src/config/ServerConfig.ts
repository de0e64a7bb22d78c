/** The configuration, read once from the environment. docs/reference/configuration.md has the variables and their defaults. */
import { withoutFinalSlash } from "@sluice/core/contract"
import { ApiKey, SystemAccessToken } from "@sluice/core"
import {
  Config,
  ConfigProvider,
  Context,
  Effect,
  Layer,
  Option,
  Record,
  Redacted,
  Schema,
  Struct
} from "effect"
import { createRequire } from "node:module"
import { resolve } from "node:path"
import { readBilling } from "./BillingSettings.ts"
import { readIdentity } from "./IdentitySettings.ts"
import { readOperation } from "./OperationSettings.ts"
import { misspeltVariables } from "./MisspeltVariables.ts"
import {
  oneOf,
  invalidVariable,
  optionalVariable,
  parsedVariable,
  secretVariable,
  parsedSecret,
  textVariable,
  urlVariable,
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

const PositiveInt = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0))

/** A folder, not an address. */
const folderOf = (text: string) => (text.includes("://") ? undefined : resolve(text))

/** Addresses of object stores and of LanceDB Enterprise. */
const STORE_ADDRESS = /^(?:s3|gs|az|db):\/\/[^/]/

/** A folder as an absolute path, or an address without a trailing slash. */
const documentsOf = (text: string) =>
  folderOf(text) ?? (STORE_ADDRESS.test(text) ? withoutFinalSlash(text) : undefined)

const databaseOf = (url: string) =>
  URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol) ? Redacted.make(url) : undefined

/** Characters of a credential that an administrator chooses. A fast hash is safe only for long random ones. */
const MIN_SECRET_LENGTH = 32

/** A first credential of the owner. */
const firstSecret = (name: string, prefix: string) =>
  parsedSecret(
    name,
    `begin with ${prefix} and have at least ${MIN_SECRET_LENGTH} letters and digits`,
    (text) =>
      text.startsWith(prefix) && text.length >= MIN_SECRET_LENGTH && /^[\w-]+$/.test(text)
        ? Redacted.make(text)
        : undefined
  )

/** How the sentences of an answer are verified. Undefined: by the model that is named for it, if one is. */
const readVerifier = Effect.gen(function* () {
  const nliModel = yield* textVariable("SLUICE_NLI_MODEL")
  const verifier = yield* oneOf("SLUICE_VERIFIER", undefined, ["embedded", "strict", "model", "nli"])
  if (verifier === "nli" && nliModel === undefined)
    return yield* invalidVariable("SLUICE_VERIFIER is nli. Set SLUICE_NLI_MODEL to the folder of the model")
  return { nliModel, verifier }
})

/** A credential of a gateway, which a header can carry. */
const credential = <A>(name: string, schema: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownOption(schema)
  const parse = (text: string) => Option.getOrUndefined(decode(text))
  return parsedSecret(name, "be one word of visible characters", parse)
}

/** The variables of a gateway. Only `url` has an effect of its own. */
const gatewayVariables = Effect.all({
  ...Record.map(GATEWAY_VARIABLES, textVariable),
  url: urlVariable("SLUICE_GATEWAY_URL", "https://gateway.example"),
  apiKey: credential("SLUICE_API_KEY", ApiKey),
  accessToken: credential("SLUICE_ACCESS_TOKEN", SystemAccessToken),
  batch: optionalVariable(Config.schema(PositiveInt, "SLUICE_EMBEDDING_BATCH"))
})

type GatewayVariables = Effect.Success<typeof gatewayVariables>

/** Names every missing variable. There is no fallback to the embedded models. */
const gatewayOf = Effect.fnUntraced(function* (found: GatewayVariables, localModels: string | undefined) {
  const { url, apiKey, accessToken, embedding, rerank, chat, vision, verify, query, passage, batch } = found
  if (url === undefined) return undefined
  if (localModels !== undefined) {
    return yield* invalidVariable("SLUICE_LOCAL_MODELS and SLUICE_GATEWAY_URL name models. Unset one of them")
  }
  const missing = [
    apiKey === undefined && "SLUICE_API_KEY (its API key for /v1; any word if it needs none)",
    embedding === undefined && "SLUICE_EMBEDDING_MODEL"
  ].filter((name) => name !== false)
  if (apiKey === undefined || embedding === undefined) {
    return yield* invalidVariable(
      `SLUICE_GATEWAY_URL is set, but these are missing: ${missing.join(", ")}. ` +
        "Set them, or unset SLUICE_GATEWAY_URL to use the embedded models"
    )
  }
  return {
    /** Without a trailing slash. */
    url: withoutFinalSlash(url).replace(/\/v1$/, ""),
    apiKey,
    accessToken,
    models: { embedding, rerank, chat, vision, verify },
    prefixes:
      query === undefined && passage === undefined
        ? undefined
        : { ...(query !== undefined && { query }), ...(passage !== undefined && { passage }) },
    batch
  }
})

/** A gateway to use in place of the embedded models. Embedded ones stand for the models that it does not name. */
export type GatewaySettings = NonNullable<Effect.Success<ReturnType<typeof gatewayOf>>>

/**
 * The address of OpenAI, or of a compatible server, in the variables of OpenAI's own libraries. Both are needed: a key
 * alone is in many environments, and does not mean that documents may be sent there.
 */
const readOpenAi = Effect.gen(function* () {
  const url = yield* urlVariable("OPENAI_BASE_URL", "https://api.openai.com/v1")
  const key = yield* optionalVariable(Config.Redacted("OPENAI_API_KEY"))
  return key && url
})

/** Variables that have no effect without a gateway, to warn about. */
const unusedVariables = (found: GatewayVariables): ReadonlyArray<string> => {
  if (found.url !== undefined) return []
  const names = {
    apiKey: "SLUICE_API_KEY",
    accessToken: "SLUICE_ACCESS_TOKEN",
    ...GATEWAY_VARIABLES,
    batch: "SLUICE_EMBEDDING_BATCH"
  } as const
  return Struct.keys(names).flatMap((field) => (found[field] === undefined ? [] : names[field]))
}

const settings = Effect.gen(function* () {
  const port = yield* wholeNumber("PORT", undefined, 0, 65_535, "up to 65535, or 0 for any free port")
  const data = yield* parsedVariable(
    "SLUICE_DATA",
    "be a folder. Set SLUICE_DOCUMENTS to the object store: accounts and caches stay in the folder",
    folderOf,
    resolve(".sluice")
  )
  const documents = yield* parsedVariable(
    "SLUICE_DOCUMENTS",
    "be a folder, or an address that begins with s3://, gs://, az:// or db://",
    documentsOf
  )
  const ofGateway = yield* gatewayVariables
  const localModels = yield* textVariable("SLUICE_LOCAL_MODELS")
  const openAi = yield* readOpenAi
  const scannedPages = yield* optionalVariable(Config.schema(PositiveInt, "SLUICE_SCANNED_PAGES"))
  const describeFigures = yield* optionalVariable(Config.Boolean("SLUICE_DESCRIBE_FIGURES"))
  const samples = yield* optionalVariable(Config.Boolean("SLUICE_SAMPLES"))
  return {
    port: port ?? DEFAULT_PORT,
    /** Whether `PORT` is set. */
    portGiven: port !== undefined,
    host: (yield* textVariable("HOST")) ?? "127.0.0.1",
    /** Absolute. */
    data,
    /** Where libraries and media files are: a folder, or the address of a store that several servers may share. */
    documents: documents ?? data,
    /** How LanceDB Enterprise is reached. Object stores are reached by the variables that LanceDB reads itself. */
    enterprise: yield* Effect.all({
      apiKey: secretVariable("LANCEDB_API_KEY"),
      region: textVariable("LANCEDB_REGION"),
      hostOverride: textVariable("LANCEDB_HOST")
    }),
    /** The PostgreSQL database of the accounts. Undefined: SQLite in the data folder. */
    database: yield* parsedSecret(
      "SLUICE_DATABASE_URL",
      "be a PostgreSQL address such as postgres://user:password@host:5432/name",
      databaseOf
    ),
    /** Whether an SQLite commit waits for the disk (`full`) or for the operating system (`normal`). */
    synchronous: yield* oneOf("SLUICE_SYNCHRONOUS", "full", ["full", "normal"]),
    /** Undefined: the embedded models are used. */
    gateway: yield* gatewayOf(ofGateway, localModels),
    /** `OPENAI_BASE_URL`, for a server without a providers' file. Its key is in `OPENAI_API_KEY`. */
    openAi: ofGateway.url === undefined ? openAi : undefined,
    /** The set of local models that embeds, reranks and, if it has a reader, answers. Undefined: the embedded ones do. */
    localModels,
    /** The verifier, and the folder of the model of natural language inference. */
    ...(yield* readVerifier),
    /** What reads scanned pages: OCR, or the vision model. */
    scans: yield* oneOf("SLUICE_SCANS", "ocr", ["model", "ocr"]),
    /** Where model servers of this machine listen, if not on their usual ports: `ollama=12000,tei=8081`. */
    localServers: yield* textVariable("SLUICE_LOCAL_SERVERS"),
    /** The owner's first credentials. Undefined: random ones, which are printed. */
    firstSecrets: {
      accessToken: yield* firstSecret("SLUICE_ADMIN_TOKEN", "sat-"),
      apiKey: yield* firstSecret("SLUICE_ADMIN_API_KEY", "sk-")
    },
    /** The provider of OpenID Connect. Undefined: people sign in with tokens, keys and invitations. */
    identity: yield* readIdentity,
    /** How documents are read. */
    reading: {
      describeFigures: describeFigures ?? false,
      ...(scannedPages !== undefined && { scannedPages })
    },
    // Several servers of one store would add them again after they were deleted.
    samples: samples ?? documents === undefined,
    /** Variables that are set and have no effect. */
    unusedVariables: unusedVariables(ofGateway),
    operation: yield* readOperation,
    billing: yield* readBilling
  }
})

export class ServerConfig extends Context.Service<ServerConfig>()("@sluice/demo-server/Config", {
  make: Effect.gen(function* () {
    const environment = yield* ConfigProvider.ConfigProvider
    const known = new Set<string>()
    const provider = ConfigProvider.mapInput(environment, (path) => {
      known.add(path.join("_"))
      return path
    })
    const found = yield* settings.pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, provider),
      Effect.catchTag("ConfigError", ({ cause }) =>
        invalidVariable(`Invalid environment: ${cause.message.replaceAll(/\s+/g, " ")}`)
      )
    )
    return {
      ...found,
      /** Variables that are set and not read, each with the one that it may be meant to be. */
      misspeltVariables: yield* misspeltVariables(environment, known)
    }
  })
}) {
  static readonly layer = Layer.effect(ServerConfig, ServerConfig.make)
}
