/** Additions to the OpenAPI document beyond the schemas. */
import { assert, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { ServerApi } from "../../apps/demo-server/src/contract/ServerApi.ts"

// The document is any JSON; missing values are undefined.
const at = (node: unknown, ...keys: ReadonlyArray<string>): unknown =>
  keys.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], node)

const document: unknown = JSON.parse(JSON.stringify(OpenApi.fromApi(ServerApi)))

it("has the multipart forms of images and videos", () => {
  for (const [path, field, fields] of [
    ["/v1/images/generations", "image", ["prompt", "model", "n", "seed"]],
    ["/v1/videos", "input_reference", ["prompt", "model", "seconds", "size"]]
  ] as const) {
    const content = at(document, "paths", path, "post", "requestBody", "content")
    assert.sameMembers(Object.keys(content as object), ["application/json", "multipart/form-data"])
    const properties = at(content, "multipart/form-data", "schema", "properties")
    assert.includeMembers(Object.keys(properties as object), [...fields])
    assert.deepInclude(at(properties, field) as object, { type: "string", format: "binary" })
  }
})

it("has the alias of rerank, max_completion_tokens, and the header Idempotency-Key", () => {
  const named = (path: string) =>
    (at(document, "paths", path, "post", "parameters") as ReadonlyArray<{ name: string }>).map(
      ({ name }) => name
    )
  for (const path of ["/v1/rerank", "/v2/rerank", "/v1/embeddings", "/v1/videos", "/api/token/"]) {
    assert.include(named(path), "Idempotency-Key", path)
  }
  const chat = at(document, "components", "schemas", "ChatRequest", "properties")
  assert.deepInclude(at(chat, "max_completion_tokens") as object, at(chat, "max_tokens") as object)
  const ids = Object.values(at(document, "paths") as object).flatMap((path: object) =>
    Object.values(path).map((operation) => at(operation, "operationId"))
  )
  assert.strictEqual(new Set(ids).size, ids.length)
  assert.notInclude(JSON.stringify(document), '"additionalProperties":false')
})
