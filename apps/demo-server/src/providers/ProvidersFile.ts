/**
 * The format of `sluice.config.json`: gateways in addition to, or in place of, the embedded models. `docs/providers.md`
 * describes each field.
 */
import type { ModelGroup } from "@sluice/core"
import { faultsOf, MODEL_GROUPS } from "@sluice/core/contract"
import { parseJson } from "@sluice/core/client"
import { Effect, Record, Schema, Struct } from "effect"

/** The id of the embedded provider. */
const EMBEDDED = "sluice-embedded"

const Positive = Schema.Finite.check(Schema.isGreaterThan(0))
const Priority = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))
/** One day at most, so that no connection stays open forever. */
const Seconds = Positive.check(Schema.isLessThanOrEqualTo(86_400))

/** An upstream's id, in tasks, lists and logs. */
const Id = Schema.String.check(
  Schema.isPattern(/^[\w.:-]{1,64}$/, {
    expected: "a name of up to 64 letters, digits and . : _ -"
  }),
  Schema.makeFilter(
    (id) => id !== EMBEDDED || "Expected another name: this is the name of the embedded provider"
  )
)

const Url = Schema.String.check(
  Schema.makeFilter((text) => {
    if (!URL.canParse(text)) return "Expected an http or https address"
    const { protocol, username, password, search, hash } = new URL(text)
    if (!/^https?:$/.test(protocol)) return "Expected an http or https address"
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
  protocol: Schema.optionalKey(Schema.NonEmptyString),
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

/** The uses that the library has for models, and the operation that each needs. Default: the embedded models. */
export const LIBRARY_OPERATIONS = {
  embedding: "embeddings",
  rerank: "rerank",
  chat: "chat",
  /** The model that looks at figures. Default: the embedded OCR. */
  vision: "chat"
} as const satisfies Record<string, (typeof Model.Type)["operation"]>

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
  /** Names or aliases of models. */
  library: Schema.optionalKey(
    Schema.Struct(Record.map(LIBRARY_OPERATIONS, () => Schema.optionalKey(Schema.NonEmptyString)))
  )
}).check(
  Schema.makeFilter(
    ({ embedded = false, upstreams = [] }) =>
      embedded !== false || upstreams.length > 0 || "Expected an upstream or `embedded`"
  ),
  Schema.makeFilter(({ library = {}, upstreams = [] }) => {
    const models = upstreams.flatMap(({ models }) => models)
    const missing = Struct.keys(LIBRARY_OPERATIONS).find((use) => {
      const name = library[use]
      const serves = ({ aliases = [], id, operation }: (typeof models)[number]) =>
        operation === LIBRARY_OPERATIONS[use] && [id, ...aliases].includes(name ?? "")
      return name !== undefined && !models.some(serves)
    })
    return (
      missing === undefined ||
      `Expected \`library.${missing}\` to be a model of an upstream for ${LIBRARY_OPERATIONS[missing]}`
    )
  })
)
export type ProvidersFile = typeof ProvidersFile.Type
export type UpstreamEntry = typeof Upstream.Type

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
