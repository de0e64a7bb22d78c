/** The `response_format` of a chat: a JSON schema that the response must keep. */
import type { Extra } from "../contract/Fields.ts"

type Schemas = Readonly<Record<string, Extra[string]>>

/** The JSON schema of an object whose fields are all required, as strict formats want it. */
export const objectSchema = (properties: Schemas) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false
})

export const responseFormat = (name: string, properties: Schemas): Extra => ({
  type: "json_schema",
  json_schema: { name, strict: true, schema: objectSchema(properties) }
})
