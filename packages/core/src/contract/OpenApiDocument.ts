/** Completes an OpenAPI document: undeclared fields are accepted, and every field and parameter has its description. */
import { Predicate, Schema } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"

type Node = Record<string, unknown>

const KEYWORDS: ReadonlySet<string> = new Set(["description", "default"])

/** Moves the description of a field from a part of `allOf` to the field. */
const hoist = (node: Node): void => {
  if (!Array.isArray(node["allOf"])) return
  const rest: Array<unknown> = []
  for (const part of node["allOf"]) {
    if (Predicate.isObject(part) && Object.keys(part).every((key) => KEYWORDS.has(key)))
      Object.assign(node, part)
    else rest.push(part)
  }
  delete node["allOf"]
  if (rest.length === 1) Object.assign(node, { ...(rest[0] as Node), ...node })
  else if (rest.length > 1) node["allOf"] = rest
}

const EVENT = { id: "The event's id.", event: "The kind of the event.", data: "The event, as JSON." }

const describeEvent = (media: Node): void => {
  complete(media)
  const { properties = {} } = media["schema"] as { readonly properties?: Record<string, Node> }
  for (const [name, description] of Object.entries(EVENT)) {
    if (properties[name] !== undefined) properties[name] = { description, ...properties[name] }
  }
}

const complete = (node: Node): void => {
  for (const [key, value] of Object.entries(node)) {
    if (key === "propertyNames" || (key === "additionalProperties" && value === false)) delete node[key]
    // The range of every integer.
    else if (typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER) delete node[key]
    else if (key === "text/event-stream") describeEvent(value as Node)
    else if (Predicate.isObjectOrArray(value)) complete(value as Node)
  }
  hoist(node)
}

/** The properties of the decoded parameters: they are text on the wire, numbers in the document. */
const propertiesOf = (schema: Schema.Constraint | undefined): Readonly<Record<string, Node>> => {
  if (schema === undefined) return {}
  const { properties = {} } = Schema.toJsonSchemaDocument(Schema.toType(schema)).schema
  complete(properties as Node)
  return properties as Record<string, Node>
}

/**
 * The `OpenApi.Transform` of an API. An API does not inherit that of an API that it joins.
 *
 * Removes `additionalProperties: false` and `propertyNames`: undeclared fields are accepted.
 */
export const documentFields =
  <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) =>
  <Document extends Node>(document: Document): Document => {
    complete(document)
    HttpApi.reflect(api, {
      onGroup() {},
      onEndpoint({ endpoint: { headers, method, params, path, query } }) {
        const paths = document["paths"] as Record<string, Record<string, Node> | undefined>
        const operation = paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()]
        const known = { ...propertiesOf(params), ...propertiesOf(query), ...propertiesOf(headers) }
        for (const parameter of (operation?.["parameters"] ?? []) as ReadonlyArray<Node>) {
          const { description, ...schema } = known[String(parameter["name"])] ?? {}
          Object.assign(parameter, { schema, description })
        }
      }
    })
    return document
  }
