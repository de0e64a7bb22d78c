/** The environment variables of the configuration page. `test/reference.test.ts` compares them with what the code reads. */

export interface Variable {
  readonly name: string
  readonly type: string
  /** What an unset variable is the same as; "–" if there is no such value. */
  readonly default: string
  readonly meaning: string
}

/** In each line: name | type | default | meaning. */
const TABLE = `
## The server
PORT | whole number | 3000 | Port to listen on; 0 takes any free port
HOST | text | 127.0.0.1 | Address to listen on; \`0.0.0.0\` for all networks
SLUICE_DATA | folder | .sluice | Folder of the library, the accounts and connected models
SLUICE_DOCUMENTS | folder | – | Where [documents](../guides/operation.md#several-servers) and media files are, if not in the data folder: a folder, \`s3://…\`, \`gs://…\`, \`az://…\` or \`db://…\`
LANCEDB_API_KEY | secret | – | Key of LanceDB Enterprise, for \`db://\`
LANCEDB_REGION | text | – | Its region
LANCEDB_HOST | text | – | Its address, if it is not LanceDB Cloud
SLUICE_SAMPLES | boolean | true | Whether a new library gets the sample documents. With \`SLUICE_DOCUMENTS\`, the default is false
SLUICE_ADMIN_TOKEN | secret of 32 characters | – | The owner's [first system access token](../guides/deploy.md#first-credentials). Unset: a random one is printed
SLUICE_ADMIN_API_KEY | secret of 32 characters | – | The owner's first API key. Unset: a random one is printed
SLUICE_HOSTS | list of names | – | [Host names](../guides/operation.md#request-limits) that requests may name beside loopback ones
SLUICE_SOURCE_FOLDERS | text | – | Folders below which administrators may add [sources](../guides/sources.md#on-the-server), separated by commas. Unset: none
SLUICE_TRUSTED_PROXIES | list of networks | – | [Proxies](../guides/operation.md#behind-a-proxy) whose \`X-Forwarded-For\` and \`X-Forwarded-Proto\` count
SLUICE_QUESTIONS | whole number | 128 | Questions that run at the same time; more get 503 with \`retry-after\`
SLUICE_JOBS | whole number | 2 | [Jobs](../guides/operation.md#jobs-and-workers) of several files that this server runs at the same time; 0 leaves all jobs to \`sluice worker\`
SLUICE_SHUTDOWN_SECONDS | seconds | 20 | How long a [shutdown](../guides/operation.md#shutdown) waits for running calls
SLUICE_CALLER_SECONDS | seconds | 30 | How long a [stalled caller](../guides/operation.md#request-limits) is waited for
## Accounts and money
SLUICE_DATABASE_URL | PostgreSQL address | – | Database of [users and keys](../guides/accounts.md#where-accounts-are-stored), in place of SQLite in the data folder
SLUICE_DATABASE_WAIT_SECONDS | seconds | 30 | How long the start waits for PostgreSQL
SLUICE_SYNCHRONOUS | \`full\` or \`normal\` | full | Whether an SQLite [commit](../guides/accounts.md#durability) waits for the disk
SLUICE_PRICES | path | – | [Price file](../explanation/money.md#prices). Unset: the shipped prices
SLUICE_REQUESTS_PER_MINUTE | whole number | – | [Limit](../explanation/money.md#rate-limits-and-idempotency) of each API key. Unset: none
SLUICE_TOKENS_PER_MINUTE | whole number | – | The same in tokens
SLUICE_STORAGE_MB | whole number | 10240 | MiB that one user's documents and stored responses may [take](../explanation/money.md#storage)
SLUICE_KEEP_DAYS | whole number | 400 | Days to keep ended charges, at least 7
## Sign-in
SLUICE_OIDC_ISSUER | address | – | Provider of [OpenID Connect](../guides/accounts.md#openid-connect). Unset: none
SLUICE_OIDC_CLIENT_ID | text | – | Client identifier of this server at the provider
SLUICE_OIDC_CLIENT_SECRET | secret | – | Its secret. Unset: a public client
SLUICE_OIDC_SCOPE | text | openid profile email | Scopes to ask for
SLUICE_OIDC_GROUPS | text | groups | Claim with the names of a user's groups
SLUICE_OIDC_NAME | text | single sign-on | Name of the provider on the page
SLUICE_OIDC_QUOTA | whole number | – | Balance of a user who signs in for the first time, in quota units. Unset: unknown users are refused
SLUICE_SOURCE_CREDENTIAL | secret | – | \`user:password\`, a token, or \`accessKeyId:secretAccessKey\`, for the [source](../guides/sources.md) of \`sluice sync\`
## Models
SLUICE_CONFIG | path | – | [Providers file](../guides/providers.md). Unset: \`sluice.config.json\` in the working folder, or the one in the data folder
OPENAI_BASE_URL | address | – | With \`OPENAI_API_KEY\`: OpenAI, or a compatible server, in place of the embedded models
OPENAI_API_KEY | secret | – | Its key. Alone it has no effect
SLUICE_GATEWAY_URL | address | – | Gateway to use in place of the embedded models
SLUICE_API_KEY | secret | – | API key of the gateway, for \`/v1\`
SLUICE_ACCESS_TOKEN | secret | – | System access token of the gateway, for \`/api\`
SLUICE_EMBEDDING_MODEL | model | – | Embedding model of the gateway; required with \`SLUICE_GATEWAY_URL\`
SLUICE_RERANK_MODEL | model | – | Its reranker. Unset: the embedded one
SLUICE_CHAT_MODEL | model | – | The model that answers. Unset: the embedded reader
SLUICE_VISION_MODEL | model | – | The model that [looks at figures](../guides/documents.md#vision-models). Unset: OCR
SLUICE_VERIFY_MODEL | model | – | The chat model that [verifies answers](../explanation/answers.md#verification). Unset: none does
SLUICE_VERIFIER | \`embedded\`, \`strict\`, \`model\` or \`nli\` | – | How the [sentences of a chat model are verified](../explanation/answers.md#verification). Unset: \`model\` if one is named, else not at all
SLUICE_NLI_MODEL | path | – | Folder of the model of \`SLUICE_VERIFIER=nli\`
SLUICE_QUERY_PREFIX | text | – | [Prefix](../guides/ingest.md#your-own-embedding-server) of each question for the embedding model
SLUICE_PASSAGE_PREFIX | text | – | Prefix of each passage
SLUICE_EMBEDDING_BATCH | whole number | – | Texts of one embedding request. Unset: 96, or fewer if the server refuses so many
SLUICE_OCR_LANGUAGES | list of languages | eng,chi_sim | [Languages](../guides/documents.md#languages-of-scans) that OCR reads, such as \`deu,fra\`
SLUICE_SCANS | \`ocr\` or \`model\` | ocr | What reads scanned pages and text in pictures: OCR, or the [vision model](../guides/documents.md#vision-models)
SLUICE_OCR_WORKERS | whole number | – | Pictures that OCR reads at the same time, each with about 180 MB. Unset: one for each processor but one, at most 4
SLUICE_SCANNED_PAGES | whole number | – | Scanned pages that are read of one file. Unset: 1,000
SLUICE_DESCRIBE_FIGURES | boolean | false | Whether the vision model describes each figure once, at the ingest
SLUICE_LOCAL_MODELS | text | – | Set of [local models](../guides/local-models.md), such as \`small\`, in place of the embedded embedder, reranker and, if it has one, reader
SLUICE_LOCAL_SERVERS | text | – | Ports of [model servers](../guides/local-models.md#model-servers-on-this-machine) of this machine, such as \`ollama=12000\`
## Logs, metrics and traces
SLUICE_LOG | \`text\` or \`json\` | text | Form of the [log](../guides/operation.md#logs-metrics-and-traces)
SLUICE_LOG_REQUESTS | boolean | – | Whether the log has each request. Unset: only with \`SLUICE_LOG=json\`
SLUICE_METRICS_TOKEN | secret of 16 characters | – | Opens \`/metrics\` to others than loopback
OTEL_EXPORTER_OTLP_ENDPOINT | address | – | Where spans are sent, as JSON over HTTP. Unset: nowhere
OTEL_EXPORTER_OTLP_HEADERS | text | – | Headers of these requests: \`name=value, …\`
OTEL_SERVICE_NAME | text | sluice | Name of the service in spans
## Programs and the command line
SLUICE_MODEL_GROUPS | JSON or path | – | Models of each group, for checks of image and video calls: \`ModelCatalogue.layerConfig\`
SLUICE_MODEL_CATALOGUE | path | – | JSON file with [further local models](../guides/local-models.md#models-of-your-own)
SLUICE_MODEL_HUB | address | https://huggingface.co | Where \`sluice models pull\` downloads
XDG_CACHE_HOME | folder | ~/.cache | Local models are in \`sluice/models\` in it
## Read by Node and the system
HTTPS_PROXY\`, \`HTTP_PROXY\`, \`NO_PROXY | address | – | The [proxy](../guides/local-models.md#networks) of downloads and of calls to vendors
NODE_COMPILE_CACHE | folder | – | Where Node keeps compiled code, also that of the threads that parse PDFs
MALLOC_ARENA_MAX | whole number | 2 | Of glibc. \`sluice\` sets it for its process, so that freed memory is given back
MALLOC_MMAP_THRESHOLD_ | bytes | 32768 | The same
`

/** The variables by the titles of their sections. */
export const SECTIONS: ReadonlyMap<string, ReadonlyArray<Variable>> = new Map(
  TABLE.split("## ")
    .slice(1)
    .map((section) => {
      const [title = "", ...lines] = section.trim().split("\n")
      const variables = lines.map((line) => {
        const [name = "", type = "", value = "", meaning = ""] = line.split(" | ")
        return { name, type, default: value, meaning }
      })
      return [title, variables] as const
    })
)
