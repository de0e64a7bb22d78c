/** Additions to the OpenAPI document that the schemas cannot express: forms, an alias, a header, a field of OpenAI's clients. */
import { Predicate } from "effect"

type Node = Record<string, unknown>

/** The object at a path of keys; undefined for anything else. */
const at = (node: unknown, ...keys: ReadonlyArray<string>): Node | undefined => {
  const found = keys.reduce<unknown>(
    (inner, key) => (Predicate.isObject(inner) ? inner[key] : undefined),
    node
  )
  return Predicate.isObject(found) ? found : undefined
}

/** Requests that also take a file in a multipart form, and the field of the file. */
const FILES = {
  "/v1/images/generations": { schema: "ImageRequest", field: "image" },
  "/v1/videos": { schema: "VideoRequest", field: "input_reference" }
} as const

/** Calls that support `Idempotency-Key`. */
const IDEMPOTENT = [
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
    "A repeated call with the same key within 24 hours returns the first response and is charged once.",
  schema: { type: "string", minLength: 1, maxLength: 255 }
}

/** Adds them to the document. */
export const extendOpenApi = <Document extends Node>(document: Document): Document => {
  for (const [path, { field, schema }] of Object.entries(FILES)) {
    const content = at(document, "paths", path, "post", "requestBody", "content")
    const json = at(document, "components", "schemas", schema)
    if (content !== undefined && json !== undefined) {
      const file = { type: "string", format: "binary", description: "A PNG, JPEG or WEBP" }
      const properties = { ...at(json, "properties"), [field]: file }
      content["multipart/form-data"] = { schema: { ...json, properties } }
    }
  }
  for (const path of IDEMPOTENT) {
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
        "The name that OpenAI's clients use for `max_tokens`. The lower one applies if both are given."
    }
  }
  const rerank = at(document, "paths", "/v1/rerank", "post")
  const paths = at(document, "paths")
  if (rerank !== undefined && paths !== undefined) {
    paths["/v2/rerank"] = { post: { ...rerank, operationId: "rerank.rerankV2" } }
  }
  return document
}
