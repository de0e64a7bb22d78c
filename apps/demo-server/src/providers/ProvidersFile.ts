/**
 * The format of `sluice.config.json`: gateways in addition to, or in place of, the embedded models. `docs/guides/providers.md`
 * describes each field.
 */
import { type ModelGroup, faultsOf, MODEL_GROUPS } from "@sluice/core/contract"
import { parseJson } from "@sluice/core/client"
import { Effect, Record, Schema, Struct } from "effect"
import { isHttpUrl } from "../config/Variables.ts"
import { ConnectionId, VendorOperation } from "../contract/Connections.ts"

/** The id of the embedded provider. */
export const EMBEDDED = "sluice-embedded"

const Positive = Schema.Finite.check(Schema.isGreaterThan(0))
const Priority = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))
/** One day at most, so that no connection stays open forever. */
const Seconds = Positive.check(Schema.isLessThanOrEqualTo(86_400))

const Id = ConnectionId.check(
  Schema.makeFilter(
    (id) => id !== EMBEDDED || "Expected another name: this is the name of the embedded provider"
  )
)

const Url = Schema.String.check(
  Schema.makeFilter((text) => {
    if (!isHttpUrl(text)) return "Expected an http or https address"
    const { username, password, search, hash } = new URL(text)
    if (username !== "" || password !== "") return "Expected an address without a credential. Use `apiKey`"
    return (search === "" && hash === "") || "Expected an address without `?` and `#`"
  })
)

const WHERE = 'Expected { "env": NAME } or { "file": PATH }, not the key itself'

/** The place of a credential. */
const CredentialSource = Schema.Struct({
  env: Schema.optionalKey(Schema.NonEmptyString),
  file: Schema.optionalKey(Schema.NonEmptyString)
}).check(Schema.makeFilter(({ env, file }) => (env === undefined) !== (file === undefined) || WHERE))

const share = { priority: Schema.optionalKey(Priority), weight: Schema.optionalKey(Positive) }

const Model = Schema.Struct({
  ...share,
  id: Schema.NonEmptyString,
  operation: VendorOperation,
  aliases: Schema.optionalKey(Schema.Array(Schema.NonEmptyString)),
  timeoutSeconds: Schema.optionalKey(Seconds),
  group: Schema.optionalKey(Schema.Literals(MODEL_GROUPS as readonly [ModelGroup, ...Array<ModelGroup>])),
  note: Schema.optionalKey(Schema.String),
  prefixes: Schema.optionalKey(
    Schema.Struct({ query: Schema.optionalKey(Schema.String), passage: Schema.optionalKey(Schema.String) })
  ),
  batch: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
})

const Texts = Schema.Record(Schema.NonEmptyString, Schema.String)
/** Values of headers, or the places of those that are secret. */
const Headers = Schema.Record(Schema.NonEmptyString, Schema.Union([Schema.String, CredentialSource]))

const Upstream = Schema.Struct({
  ...share,
  /** Default: the dialect. */
  id: Schema.optionalKey(Id),
  /** Default: the dialect's. */
  url: Schema.optionalKey(Url),
  dialect: Schema.optionalKey(Schema.NonEmptyString),
  /** Default: the dialect's variable. */
  apiKey: Schema.optionalKey(CredentialSource),
  paths: Schema.optionalKey(
    Schema.Struct(
      Record.fromIterableWith(VendorOperation.literals, (name) => [
        name,
        Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\//, { expected: "a path such as /chat" })))
      ])
    )
  ),
  headers: Schema.optionalKey(Headers),
  query: Schema.optionalKey(Texts),
  drop: Schema.optionalKey(Schema.Array(Schema.NonEmptyString)),
  rename: Schema.optionalKey(Texts),
  /** Operations of listed models, where the name suggests another one. */
  operations: Schema.optionalKey(Schema.Record(Schema.NonEmptyString, VendorOperation)),
  timeoutSeconds: Schema.optionalKey(Seconds),
  idleSeconds: Schema.optionalKey(Seconds),
  /** Default: those that the upstream lists. */
  models: Schema.optionalKey(
    Schema.Array(Model).check(
      Schema.isMinLength(1),
      Schema.makeFilter((models) => {
        const names = models.flatMap(({ aliases = [], id, operation }) =>
          [id, ...aliases].map((name) => `\`${name}\` for ${operation}`)
        )
        const twice = names.find((name, at) => names.indexOf(name) !== at)
        return twice === undefined || `Expected each name once; there are several ${twice}`
      })
    )
  )
}).check(
  Schema.makeFilter(
    ({ dialect, id, models, url }) =>
      dialect !== undefined ||
      (id !== undefined && url !== undefined && models !== undefined) ||
      "Expected `id`, `url` and `models`, or a `dialect`"
  )
)

/** The uses that the library has for models, and the operation that each needs. Default: the embedded models. */
export const LIBRARY_OPERATIONS = {
  embedding: "embeddings",
  rerank: "rerank",
  chat: "chat",
  /** The model that looks at figures. Default: the embedded OCR. */
  vision: "chat",
  /** The model that verifies answers. Default: none. */
  verify: "chat"
} as const satisfies Record<string, (typeof Model.Type)["operation"]>

/** Names or aliases of models, by their use in the library. */
export type LibraryNames = { readonly [use in keyof typeof LIBRARY_OPERATIONS]?: string | undefined }

interface Named {
  readonly id: string
  readonly operation: ModelEntry["operation"]
  readonly aliases?: ReadonlyArray<string>
}

/** A sentence about a model of the library that no upstream serves. */
export const missingLibraryModel = (
  library: LibraryNames,
  upstreams: ReadonlyArray<{ readonly models: ReadonlyArray<Named> }>
): string | undefined => {
  const missing = Struct.keys(LIBRARY_OPERATIONS).find((use) => {
    const name = library[use]
    const serves = ({ aliases = [], id, operation }: Named) =>
      operation === LIBRARY_OPERATIONS[use] && [id, ...aliases].includes(name ?? "")
    return name !== undefined && !upstreams.some(({ models }) => models.some(serves))
  })
  return missing === undefined
    ? undefined
    : `Expected \`library.${missing}\` to be a model of an upstream for ${LIBRARY_OPERATIONS[missing]}`
}

export const ProvidersFile = Schema.Struct({
  upstreams: Schema.optionalKey(
    Schema.Array(Upstream).check(
      Schema.makeFilter((upstreams) => {
        const ids = upstreams.map(({ dialect, id = dialect }) => id)
        const twice = ids.find((id, at) => ids.indexOf(id) !== at)
        return twice === undefined || `Expected each id once; there are several \`${twice}\``
      })
    )
  ),
  embedded: Schema.optionalKey(Schema.Union([Schema.Boolean, Schema.Struct(share)])),
  /** A set of local models, where `library` names no model. Default: `SLUICE_LOCAL_MODELS`. */
  localModels: Schema.optionalKey(Schema.NonEmptyString),
  breaker: Schema.optionalKey(
    Schema.Struct({
      failures: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))),
      openSeconds: Schema.optionalKey(Seconds)
    })
  ),
  /** Names or aliases of models. */
  library: Schema.optionalKey(
    Schema.Struct(Record.map(LIBRARY_OPERATIONS, () => Schema.optionalKey(Schema.NonEmptyString)))
  )
}).check(
  Schema.makeFilter(
    ({ embedded = false, upstreams = [] }) =>
      embedded !== false || upstreams.length > 0 || "Expected an upstream or `embedded`"
  ),
  Schema.makeFilter(({ library = {}, upstreams = [] }) =>
    // Listed models are known later.
    upstreams.some(({ models }) => models === undefined)
      ? true
      : (missingLibraryModel(
          library,
          upstreams.map(({ models = [] }) => ({ models }))
        ) ?? true)
  )
)
export type ProvidersFile = typeof ProvidersFile.Type
export type UpstreamEntry = typeof Upstream.Type
export type ModelEntry = typeof Model.Type

const decode = Schema.decodeUnknownEffect(ProvidersFile, { onExcessProperty: "error", errors: "all" })

/** Messages have no values, because someone may have written a key in place of its location. */
const describe = ({ issue }: Schema.SchemaError): string =>
  faultsOf(issue)
    .map(({ message, path }) => {
      const at = path.replaceAll(/\.(\d+)(?=\.|$)/g, "[$1]")
      if (message === "Expected no excess property") return `\`${at}\` is an unknown key`
      if (at.endsWith(".apiKey") && message === "Expected object") return `\`${at}\`: ${WHERE}`
      return at === "" ? message : `\`${at}\`: ${message}`
    })
    .join("; ")

/** Parses the file. The error lists everything that is wrong. */
export const decodeProvidersFile = (text: string): Effect.Effect<ProvidersFile, string> => {
  const value = parseJson(text)
  return value === undefined ? Effect.fail("it is not valid JSON") : Effect.mapError(decode(value), describe)
}
