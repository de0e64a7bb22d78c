/** The calls to check, derived from `GatewayApi`. */
import { Context, Effect, Schema } from "effect"
import { HttpApi, type HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { AccessTokenAuth } from "../../contract/Credentials.ts"
import { faultsOf } from "../../contract/Fields.ts"

const METHODS = ["GET", "POST", "PUT", "DELETE"] as const

/** Method and path, each parameter as `{}`: `GET /v1/videos/{}`. */
export type CallName = `${(typeof METHODS)[number]} /${string}`

/** One call of the contract. */
export interface ContractCall {
  readonly name: CallName
  /** The credential it requires. */
  readonly credential: "apiKey" | "accessToken"
  /**
   * Decodes a successful JSON response with the contract's schema; fails with the fault and its path. Undefined if no
   * success of the call is JSON.
   */
  readonly decode: ((json: unknown) => Effect.Effect<unknown, string>) | undefined
  /** True if a success may have no body. */
  readonly mayBeEmpty: boolean
}

const isEmpty = (schema: Schema.Top) => HttpApiSchema.isNoContent(schema.ast)

const withoutHeaders = (schema: Schema.Top) => (HttpApiSchema.isWithHeaders(schema) ? schema.schema : schema)

const issueMessage = ({ issue }: Schema.SchemaError): string => {
  const [{ message, path } = { message: "does not match the contract", path: "" }] = faultsOf(issue)
  return `${path === "" ? "the response" : `\`${path}\``}: ${message}`
}

const decoder = (bodies: ReadonlyArray<Schema.Top>): ContractCall["decode"] => {
  const schemas = bodies.filter((body) => !isEmpty(body))
  if (schemas.length === 0) return undefined
  const decode = Schema.decodeUnknownEffect(Schema.Union(schemas) as unknown as Schema.Codec<unknown>)
  return (json) => Effect.mapError(decode(json), issueMessage)
}

/**
 * The calls of an API, without the aliases that its OpenAPI document excludes.
 *
 * Throws for a method that has no check.
 */
export const callsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<ContractCall> => {
  const calls: Array<ContractCall> = []
  HttpApi.reflect(api, {
    onGroup() {},
    onEndpoint({ endpoint, mergedAnnotations, middleware, successes }) {
      if (Context.get(mergedAnnotations, OpenApi.Exclude)) return
      const method = METHODS.find((method) => method === endpoint.method)
      if (method === undefined) throw new Error(`${endpoint.method} ${endpoint.path} has no check`)
      const bodies = [...successes.values()].flat().map(withoutHeaders)
      calls.push({
        name: `${method} /${endpoint.path.slice(1).replaceAll(/:\w+/g, "{}")}`,
        credential: [...middleware].some(({ key }) => key === AccessTokenAuth.key) ? "accessToken" : "apiKey",
        decode: decoder(bodies),
        mayBeEmpty: bodies.some(isEmpty)
      })
    }
  })
  return calls
}

/** Every call of `GatewayApi`. */
export const contractCalls: ReadonlyArray<ContractCall> = callsOf(GatewayApi)
