/** What the OpenAPI document says beside the contract's schemas: forms, an alias, a header, a field of OpenAI's clients. */
import { tolerant } from "@sluice/core/contract"

type Node = Record<string, unknown>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

/** What is at a path of keys, where it is an object. */
const at = (node: unknown, ...keys: ReadonlyArray<string>): Node | undefined => {
  const found = keys.reduce<unknown>((inner, key) => (isNode(inner) ? inner[key] : undefined), node)
  return isNode(found) ? found : undefined
}

/** Images are asked for with `image`, videos with `input_reference`: files in a form. */
const FILES = {
  "/v1/images/generations": { schema: "ImageRequest", field: "image" },
  "/v1/videos": { schema: "VideoRequest", field: "input_reference" }
} as const

/** Calls that are made, and paid for, once for a name. */
const ONCE = [
  "/v1/rerank",
  "/v1/embeddings",
  "/v1/chat/completions",
  "/v1/images/generations",
  "/v1/videos",
  "/api/token/"
]

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Repeated with the same name within 24 hours, the call is answered as before, and paid for once.",
  schema: { type: "string", minLength: 1, maxLength: 255 }
}

const formOf = (json: Node, field: string): Node => {
  const file = { type: "string", format: "binary", description: "A PNG, JPEG or WEBP" }
  const properties = { ...at(json, "properties"), [field]: file }
  return { ...json, properties }
}

/** For `OpenApi.Transform` of the served API. */
export const described = <Document extends Node>(document: Document): Document => {
  tolerant(document)
  for (const [path, { field, schema }] of Object.entries(FILES)) {
    const content = at(document, "paths", path, "post", "requestBody", "content")
    const json = at(document, "components", "schemas", schema)
    if (content !== undefined && json !== undefined) {
      content["multipart/form-data"] = { schema: formOf(json, field) }
    }
  }
  for (const path of ONCE) {
    const post = at(document, "paths", path, "post")
    const parameters = post?.["parameters"]
    if (post !== undefined) {
      post["parameters"] = [...(Array.isArray(parameters) ? parameters : []), IDEMPOTENCY_KEY]
    }
  }
  const chat = at(document, "components", "schemas", "ChatRequest", "properties")
  if (chat !== undefined) {
    chat["max_completion_tokens"] = {
      ...at(chat, "max_tokens"),
      description:
        "The same as `max_tokens`, as OpenAI's clients call it; the lower one holds where both are given."
    }
  }
  const rerank = at(document, "paths", "/v1/rerank", "post")
  const paths = at(document, "paths")
  if (rerank !== undefined && paths !== undefined) {
    paths["/v2/rerank"] = { post: { ...rerank, operationId: "rerank.rerankV2" } }
  }
  return document
}
