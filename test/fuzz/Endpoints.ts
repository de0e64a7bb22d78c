/** Generators for every endpoint of the server, derived from the contract. */
import { AccessTokenAuth, ApiKeyAuth } from "@sluice/core/contract"
import { Arbitrary, Effect, Schema } from "effect"
import { HttpApi, HttpApiSchema } from "effect/http-api"
import { Access } from "../../apps/demo-server/src/contract/Access.ts"
import { ServerApi } from "../../apps/demo-server/src/contract/ServerApi.ts"
import type { Random } from "../../bench/corpus/Random.ts"
import type { Credential } from "../demo-server/TestServer.ts"

/** Draws an encoded value that is valid for a schema. */
export type Draw = (random: Random) => unknown

export interface Endpoint {
  /** Method and path as in the contract: `GET /v1/videos/:id`. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly credential: Credential
  readonly params: Draw | undefined
  readonly query: Draw | undefined
  /** A valid JSON body; undefined if the endpoint takes none. */
  readonly payload: Draw | undefined
  /** Whether it takes files, as multipart/form-data. */
  readonly files: boolean
  /** Checks a successful JSON answer against the contract; undefined if it never answers JSON. */
  readonly fits: ((json: unknown) => boolean) | undefined
}

/** Maximum length of generated texts and lists. */
const SIZE = 8

const drawn = (schema: Schema.Top | undefined): Draw | undefined => {
  if (schema === undefined) return undefined
  const values = Arbitrary.schema(Schema.toEncoded(schema))
  return (random) => {
    const seed = random.between(0, 2 ** 31)
    return Effect.runSync(Effect.orDie(Arbitrary.sampleEffect(values, { count: 1, seed, size: SIZE })))[0]
  }
}

const credentials: ReadonlyArray<readonly [key: string, credential: Credential]> = [
  [AccessTokenAuth.key, "token"],
  [ApiKeyAuth.key, "key"],
  [Access.key, "key"]
]

const fitting = (schemas: ReadonlyArray<Schema.Top>): Endpoint["fits"] => {
  const json = schemas
    .map((schema) => (HttpApiSchema.isWithHeaders(schema) ? schema.schema : schema))
    .filter(({ ast }) => !HttpApiSchema.isNoContent(ast))
  if (json.length === 0) return undefined
  const decode = Schema.decodeUnknownExit(Schema.Union(json) as unknown as Schema.Codec<unknown>)
  return (value) => decode(value)._tag === "Success"
}

const reflected = (): ReadonlyArray<Endpoint> => {
  const endpoints: Array<Endpoint> = []
  HttpApi.reflect(ServerApi, {
    onGroup() {},
    onEndpoint({ endpoint, middleware, successes }) {
      const keys = new Set([...middleware].map(({ key }) => key))
      const payloads = [...endpoint.payload.values()]
      const payload = payloads.find(({ encoding }) => encoding._tag === "Json")?.schemas[0]
      endpoints.push({
        name: `${endpoint.method} ${endpoint.path}`,
        method: endpoint.method,
        path: endpoint.path,
        credential: credentials.find(([key]) => keys.has(key))?.[1] ?? "none",
        params: drawn(endpoint.params),
        query: drawn(endpoint.query),
        payload: drawn(payload),
        files: payloads.some(({ encoding }) => encoding._tag === "Multipart"),
        fits: fitting([...successes.values()].flat())
      })
    }
  })
  return endpoints
}

export const endpoints: ReadonlyArray<Endpoint> = reflected()
