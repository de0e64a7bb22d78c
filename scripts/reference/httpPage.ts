/** `docs/reference/http.md`: every call of the server, from its OpenAPI document. */
import { OpenApi } from "effect/http-api"
import { ServerApi } from "../../apps/demo-server/src/contract/ServerApi.ts"
import { markdownTable, plain } from "./markdownTable.ts"

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: Schema
  readonly anyOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly default?: unknown
}

/** Fields of fields of fields are in `/openapi.json` only. */
const DEPTH = 3

const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: "API key",
  bearer: "API key",
  systemAccessToken: "system access token",
  session: "page session"
}

const { components, paths, tags } = OpenApi.fromApi(ServerApi)
const schemas = components.schemas as Readonly<Record<string, Schema>>

/** Several schemas of one name are numbered. */
const nameOf = ({ $ref = "" }: Schema) => ($ref.split("/").at(-1) ?? "").replace(/\d+$/, "")

const resolve = (schema: Schema): Schema => schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema

const alternatives = ({ anyOf, oneOf }: Schema) => anyOf ?? oneOf ?? []

const typeOf = (schema: Schema): string => {
  const { enum: values, items, type } = resolve(schema)
  if (values !== undefined) return values.map((value) => `\`${JSON.stringify(value)}\``).join(", ")
  if (items !== undefined) return `list of ${typeOf(items)}`
  const several = new Set(alternatives(resolve(schema)).map(typeOf))
  if (several.size > 1) several.delete("any")
  return type ?? ([...several].join(" or ") || "any")
}

type Row = readonly [name: string, type: string, meaning: string]

/** Rows of one name are one row, with all types. */
const merge = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
  [...Map.groupBy(rows, ([name]) => name)].map(([name, same]) => [
    name,
    [...new Set(same.map(([, type]) => type))].join(", "),
    same[0]?.[2] ?? ""
  ])

/** The fields of an object, of the elements of a list, or of all alternatives. A schema within itself is not repeated. */
const fieldsOf = (
  schema: Schema,
  prefix = "",
  depth = DEPTH,
  above: ReadonlyArray<string> = []
): ReadonlyArray<Row> => {
  const name = nameOf(schema)
  if (name !== "" && above.includes(name)) return []
  const inside = name === "" ? above : [...above, name]
  const { allOf = [], items, properties = {}, required = [], ...rest } = resolve(schema)
  if (items !== undefined) return fieldsOf(items, `${prefix}[]`, depth, inside)
  const own = Object.entries(properties).flatMap(([name, field]): ReadonlyArray<Row> => {
    const path = prefix === "" ? name : `${prefix}.${name}`
    const meaning = field.description ?? resolve(field).description ?? ""
    const usual = field.default === undefined ? "" : ` Default: \`${JSON.stringify(field.default)}\`.`
    const row: Row = [path, typeOf(field), `${meaning}${usual}${required.includes(name) ? "" : " Optional."}`]
    return depth <= 1 ? [row] : [row, ...fieldsOf(field, path, depth - 1, inside)]
  })
  return merge([
    ...own,
    ...[...allOf, ...alternatives(rest)].flatMap((one) => fieldsOf(one, prefix, depth, inside))
  ])
}

const table = (title: string, rows: ReadonlyArray<Row>) =>
  markdownTable(
    [title, "type", "meaning"],
    rows.map(([name, type, meaning]) => [`\`${name}\``, plain(type), plain(meaning)])
  )

const bodyRows = ({ content = {} }: Pick<OpenApi.OpenApiSpecResponse, "content"> = {}) =>
  Object.values(content).flatMap(({ schema }) => fieldsOf(schema))

const sectionOf = (
  method: string,
  path: string,
  operation: OpenApi.OpenAPISpecOperation
): ReadonlyArray<string> => {
  const { parameters, requestBody, responses, security } = operation
  const keys = [
    ...new Set(security.flatMap((one) => Object.keys(one).map((name) => CREDENTIALS[name] ?? name)))
  ]
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))
  const media = Object.keys(success?.[1].content ?? {})
  const failures = Object.keys(responses).filter((status) => !status.startsWith("2"))
  return [
    `### \`${method.toUpperCase()} ${path}\``,
    ...[operation.summary ?? "", operation.description ?? ""].filter((text) => text !== ""),
    keys.length === 0 ? "Needs no credential." : `Needs: ${keys.join(" or ")}.`,
    ...table(
      "parameter",
      parameters.map(({ description = "", in: place, name, required, schema }) => [
        name,
        `${typeOf(schema)}, ${place}`,
        `${description}${required === true ? "" : " Optional."}`
      ])
    ),
    ...table("request", bodyRows(requestBody)),
    ...table("response", bodyRows(success?.[1])),
    [
      `Success: ${success?.[0] ?? "none"}${media.length === 0 ? "" : `, as ${media.map((type) => `\`${type}\``).join(" or ")}`}.`,
      failures.length === 0 ? "" : ` Failures: ${failures.join(", ")}.`
    ].join("")
  ]
}

export const httpPage = (): string => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      operation: operation as OpenApi.OpenAPISpecOperation
    }))
  )
  return [
    "# HTTP",
    "Every call of the server. The gateway's calls are below `/v1` and `/api`; a gateway of your own has the same. A running server shows this reference at `/docs`, and the whole OpenAPI document at `/openapi.json`.",
    '`Authorization: Bearer …` carries the API key or the [system access token](../guides/accounts.md#credentials). The page\'s session is a cookie. Every failure has the body `{ "error": { "message", "type", "code", "param" } }`.',
    ...tags.flatMap(({ description, name }) => {
      const own = operations.filter(
        ({ operation, path }) => operation.tags[0] === name && path !== "/v2/rerank"
      )
      if (own.length === 0) return []
      return [
        `## ${name.replace(/^[a-z]/, (letter) => letter.toUpperCase())}`,
        ...(description === undefined ? [] : [`${description}.`]),
        ...own.flatMap(({ method, operation, path }) => sectionOf(method, path, operation))
      ]
    })
  ].join("\n\n")
}
