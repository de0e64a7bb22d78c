/**
 * What `sluice.config.json` may say: which gateways answer beside, or in place of, the embedded models.
 *
 * | key | default | meaning |
 * | --- | --- | --- |
 * | `upstreams` | none | the gateways that calls may be passed on to |
 * | `embedded` | `false` | `true`, or `{ "priority", "weight" }`: the models of this process answer too |
 * | `breaker.failures` | 5 | failures in a row after which a provider is left alone |
 * | `breaker.openSeconds` | 10 | how long it is left alone, before one call tries it |
 * | `library` | those of this process | which of the upstreams' models read, find and answer documents: see `LibraryFile` |
 *
 * Of an upstream:
 *
 * | key | default | meaning |
 * | --- | --- | --- |
 * | `id` | – | its name: tasks remember it, so that it should stay |
 * | `url` | – | the base address, with or without `/v1` |
 * | `apiKey` | – | `{ "env": NAME }` or `{ "file": PATH }`: where its key is, never the key itself |
 * | `priority`, `weight` | 1, 1 | of its models that say none themselves |
 * | `timeoutSeconds` | 60 | from the call to the whole answer; of a stream, to its head |
 * | `idleSeconds` | 60 | of a stream that has begun: without a byte |
 * | `models` | – | what it serves |
 *
 * Of a model:
 *
 * | key | default | meaning |
 * | --- | --- | --- |
 * | `id` | – | as the upstream knows it |
 * | `operation` | – | `rerank`, `embeddings`, `chat`, `images` or `videos` |
 * | `aliases` | none | other names that callers may use for it; several upstreams may share one |
 * | `priority` | the upstream's | 1 is asked before 2 |
 * | `weight` | the upstream's | its share among those of one priority |
 * | `timeoutSeconds` | the upstream's | as above |
 * | `group`, `note` | – | shown in the lists of models |
 * | `prefixes` | none | `{ "query", "passage" }`: what it wants before a text, where the library embeds by it |
 * | `batch` | 96 | texts that the library sends it at a time, at most |
 */
import type { ModelGroup } from "@sluice/core"
import { MODEL_GROUPS } from "@sluice/core/contract"
import { jsonIn } from "@sluice/core/client"
import { Effect, Schema, SchemaIssue } from "effect"

/** What the provider of this process is called. */
const EMBEDDED = "sluice-embedded"

const Positive = Schema.Finite.check(Schema.isGreaterThan(0))
const Priority = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))
/** A day: whoever means "never" would keep a connection for ever. */
const Seconds = Positive.check(Schema.isLessThanOrEqualTo(86_400))

/** What an upstream is called, in tasks, lists and logs. */
const Id = Schema.String.check(
  Schema.isPattern(/^[\w.:-]{1,64}$/, {
    expected: "a name of up to 64 letters, digits, or any of . : _ -"
  }),
  Schema.makeFilter(
    (id) => id !== EMBEDDED || "Expected another name: the models of this process have this one"
  )
)

const Url = Schema.String.check(
  Schema.makeFilter((text) => {
    if (!URL.canParse(text)) return "Expected an http or https address"
    const { protocol, username, password, search, hash } = new URL(text)
    if (!/^https?:$/.test(protocol)) return "Expected an http or https address"
    if (username !== "" || password !== "") return "Expected an address without a credential: use `apiKey`"
    return (search === "" && hash === "") || "Expected an address without `?` and `#`"
  })
)

const WHERE = 'Expected { "env": NAME } or { "file": PATH }: where the key is, not the key'

/** Where a credential is. */
export const CredentialSource = Schema.Struct({
  env: Schema.optionalKey(Schema.NonEmptyString),
  file: Schema.optionalKey(Schema.NonEmptyString)
}).check(Schema.makeFilter(({ env, file }) => (env === undefined) !== (file === undefined) || WHERE))
export type CredentialSource = typeof CredentialSource.Type

const share = { priority: Schema.optionalKey(Priority), weight: Schema.optionalKey(Positive) }

const Model = Schema.Struct({
  ...share,
  id: Schema.NonEmptyString,
  operation: Schema.Literals(["rerank", "embeddings", "chat", "images", "videos"]),
  aliases: Schema.optionalKey(Schema.Array(Schema.NonEmptyString)),
  timeoutSeconds: Schema.optionalKey(Seconds),
  group: Schema.optionalKey(Schema.Literals(MODEL_GROUPS as readonly [ModelGroup, ...Array<ModelGroup>])),
  note: Schema.optionalKey(Schema.String),
  prefixes: Schema.optionalKey(
    Schema.Struct({ query: Schema.optionalKey(Schema.String), passage: Schema.optionalKey(Schema.String) })
  ),
  batch: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
})

const Upstream = Schema.Struct({
  ...share,
  id: Id,
  url: Url,
  apiKey: CredentialSource,
  timeoutSeconds: Schema.optionalKey(Seconds),
  idleSeconds: Schema.optionalKey(Seconds),
  models: Schema.Array(Model).check(
    Schema.isMinLength(1),
    Schema.makeFilter((models) => {
      const names = models.flatMap(({ aliases = [], id, operation }) =>
        [id, ...aliases].map((name) => `\`${name}\` for ${operation}`)
      )
      const twice = names.find((name, at) => names.indexOf(name) !== at)
      return twice === undefined || `Expected each name once; there are several ${twice}`
    })
  )
})

/** The models that read, find and answer documents, by a name that an upstream has for them; else those of this process. */
const LibraryFile = Schema.Struct({
  embedding: Schema.optionalKey(Schema.NonEmptyString),
  rerank: Schema.optionalKey(Schema.NonEmptyString),
  chat: Schema.optionalKey(Schema.NonEmptyString),
  /** Looks at figures; else OCR of this process reads them. */
  vision: Schema.optionalKey(Schema.NonEmptyString)
})

/** What a model of the library has to do. */
export const LIBRARY_OPERATIONS = {
  embedding: "embeddings",
  rerank: "rerank",
  chat: "chat",
  vision: "chat"
} as const satisfies Record<keyof typeof LibraryFile.Type, (typeof Model.Type)["operation"]>

/** The file, decoded. */
export const ProvidersFile = Schema.Struct({
  upstreams: Schema.optionalKey(
    Schema.Array(Upstream).check(
      Schema.makeFilter((upstreams) => {
        const ids = upstreams.map(({ id }) => id)
        const twice = ids.find((id, at) => ids.indexOf(id) !== at)
        return twice === undefined || `Expected each id once; there are several \`${twice}\``
      })
    )
  ),
  embedded: Schema.optionalKey(Schema.Union([Schema.Boolean, Schema.Struct(share)])),
  breaker: Schema.optionalKey(
    Schema.Struct({
      failures: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))),
      openSeconds: Schema.optionalKey(Seconds)
    })
  ),
  library: Schema.optionalKey(LibraryFile)
}).check(
  Schema.makeFilter(
    ({ embedded = false, upstreams = [] }) =>
      embedded !== false || upstreams.length > 0 || "Expected an upstream, or `embedded`: nobody would answer"
  ),
  Schema.makeFilter(({ library = {}, upstreams = [] }) => {
    const models = upstreams.flatMap(({ models }) => models)
    const missing = Object.entries(LIBRARY_OPERATIONS).find(([use, does]) => {
      const name = library[use as keyof typeof LIBRARY_OPERATIONS]
      const serves = ({ aliases = [], id, operation }: (typeof models)[number]) =>
        operation === does && [id, ...aliases].includes(name ?? "")
      return name !== undefined && !models.some(serves)
    })
    return (
      missing === undefined ||
      `Expected \`library.${missing[0]}\` to be a model of an upstream for ${missing[1]}`
    )
  })
)
export type ProvidersFile = typeof ProvidersFile.Type
export type UpstreamEntry = typeof Upstream.Type

const decode = Schema.decodeUnknownEffect(ProvidersFile, { onExcessProperty: "error", errors: "all" })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

type Path = ReturnType<typeof format>["issues"][number]["path"]

const pathOf = (path: Path): string =>
  (path ?? [])
    .map((step) => (typeof step === "object" ? step.key : step))
    .map((key, at) => (typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${String(key)}`))
    .join("")

/** Never a value: somebody may have written a key where its place belongs. */
const said = ({ issue }: Schema.SchemaError): string =>
  format(issue)
    .issues.map(({ message, path }) => {
      const at = pathOf(path)
      if (message === "Expected no excess property") return `\`${at}\` is not a key that there is`
      if (at.endsWith(".apiKey") && message === "Expected object") return `\`${at}\`: ${WHERE}`
      return at === "" ? message : `\`${at}\`: ${message}`
    })
    .join("; ")

/** Reads the text of a file; the error is what is wrong with it, all of it, in words. */
export const decodeProvidersFile = (text: string): Effect.Effect<ProvidersFile, string> =>
  Effect.suspend(() => {
    const value = jsonIn(text)
    return value === undefined ? Effect.fail("it is not JSON") : Effect.mapError(decode(value), said)
  })
