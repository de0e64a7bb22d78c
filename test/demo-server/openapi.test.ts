/** Additions to the OpenAPI document beyond the schemas. */
import { assert, it } from "@effect/vitest"
import { Failure, GatewayApi } from "@sluice/core/contract"
import { Effect } from "effect"
import { HttpServerRespondable, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { ServerApi } from "../../apps/demo-server/src/contract/ServerApi.ts"
import { ServedApi } from "../../apps/demo-server/src/http/ServedApi.ts"

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
  assert.deepEqual(at(chat, "max_completion_tokens", "anyOf"), at(chat, "max_tokens", "anyOf"))
  const ids = Object.values(at(document, "paths") as object).flatMap((path: object) =>
    Object.values(path).map((operation) => at(operation, "operationId"))
  )
  assert.strictEqual(new Set(ids).size, ids.length)
  assert.notInclude(JSON.stringify(document), '"additionalProperties":false')
})

/** Every field and parameter with its own part of the document. Effect's extensions, `x-`, are left out. */
const fieldsIn = (node: unknown, path = ""): ReadonlyArray<readonly [path: string, field: unknown]> => {
  if (typeof node !== "object" || node === null) return []
  const { parameters = [], properties = {} } = node as Record<string, object | undefined>
  const own = Array.isArray(parameters)
    ? parameters.map((parameter) => [`${path} ${parameter.name}`, parameter] as const)
    : []
  const inside = Object.entries(node).filter(([key]) => !key.startsWith("x-"))
  return [
    ...own,
    ...Object.entries(properties).map(([name, field]) => [`${path}.${name}`, field] as const),
    ...inside.flatMap(([key, value]) => fieldsIn(value, `${path}/${key}`))
  ]
}

it("describes every field and parameter, of the server and of the contract alone", () => {
  for (const [api, least] of [
    [document, 1200],
    [JSON.parse(JSON.stringify(OpenApi.fromApi(GatewayApi))), 150]
  ] as const) {
    const fields = fieldsIn(api)
    assert.isAbove(fields.length, least)
    const bare = fields.filter(([, field]) => typeof at(field, "description") !== "string")
    assert.deepStrictEqual(
      bare.map(([path]) => path),
      []
    )
  }
})

it("has the types, ranges and defaults of fields and parameters", () => {
  const schemas = at(document, "components", "schemas")
  const expires = { type: "integer", minimum: -1, maximum: 253_402_300_799 }
  for (const name of ["Token", "TokenCreateRequest", "TokenUpdateRequest"]) {
    assert.deepInclude(at(schemas, name, "properties", "expired_time") as object, expires, name)
  }
  const [num, page] = at(document, "paths", "/api/token/", "get", "parameters") as ReadonlyArray<object>
  assert.deepInclude(num, { name: "num", schema: { type: "integer", default: 10 } })
  assert.deepInclude(page, { name: "p", schema: { type: "integer", default: 0 } })
  const n = at(schemas, "ImageRequest", "properties", "n")
  assert.deepInclude(n as object, { description: "The number of images.", default: 1 })
  assert.deepInclude(at(n, "anyOf", "0") as object, { type: "integer", minimum: 1, maximum: 10 })
  const width = at(document, "paths", "/documents/{id}/pages/{number}/image", "get", "parameters")
  assert.deepInclude((width as ReadonlyArray<object>).at(-1) as object, {
    description: "The width of the image, in pixels.",
    schema: { type: "integer", minimum: 64, maximum: 2400, default: 1240 }
  })
  assert.deepInclude(at(schemas, "ImageResponse", "properties", "data", "anyOf", "0") as object, {
    items: { $ref: "#/components/schemas/ImageDatum" }
  })
})

it("a failure is its own response: what is served has no schemas of errors", async () => {
  const endpoints = Object.values(ServedApi.groups).flatMap(({ endpoints }) => Object.values(endpoints))
  assert.isAbove(endpoints.length, 70)
  assert.deepStrictEqual(
    endpoints.filter((endpoint) => endpoint.error.size > 0),
    []
  )
  const failure = new Failure({ status: 429, message: "Slowly", code: "rate_limited", retryable: true })
  const response = await Effect.runPromise(HttpServerRespondable.toResponse(failure))
  const { headers, status } = HttpServerResponse.toWeb(response)
  assert.strictEqual(status, 429)
  assert.deepStrictEqual([headers.get("retry-after"), headers.get("x-should-retry")], ["1", "true"])
  assert.deepStrictEqual(await HttpServerResponse.toWeb(response).json(), failure.body)
})
