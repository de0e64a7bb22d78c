/** What the OpenAPI document says of fields that nobody declared. */

type Node = Record<string, unknown>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

/**
 * Takes `additionalProperties: false` out of a document, and with `propertyNames` how undeclared fields are told apart:
 * they are tolerated, not refused.
 *
 * For `OpenApi.Transform`, on the API that is served: annotations of an API that was joined to it do not reach there.
 */
export const tolerant = <Document extends Node>(document: Document): Document => {
  for (const [key, value] of Object.entries(document)) {
    if (key === "propertyNames" || (key === "additionalProperties" && value === false)) delete document[key]
    else if (isNode(value)) tolerant(value)
  }
  return document
}
