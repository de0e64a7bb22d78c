/** Responses of embeddings are parsed as by `JSON.parse`, with the vectors cut out before and put back. */
import { assert, describe, it } from "@effect/vitest"
import { encodeVector } from "@sluice/core/contract"
import { Schema } from "effect"
import { parseEmbeddings } from "../../packages/core/src/client/retrieval/EmbeddingsText.ts"
import { jsonRoundTrip } from "./jsonRoundTrip.ts"

const parsed = (text: string) => parseEmbeddings(new TextEncoder().encode(text).buffer)

const vector = encodeVector(Float32Array.of(0.5, -1, 2))

describe("a response is parsed as by JSON.parse:", () => {
  const texts: Readonly<Record<string, string>> = {
    "vectors in Base64": `{"data":[{"index":0,"embedding":"${vector}"},{"index":1,"embedding":"AAAAAA=="}],"model":"m"}`,
    "white space around colons": `{"data": [{"embedding" :\n\t"${vector}", "index": 0}]}`,
    "a name beyond ASCII": `{"model":"模型","data":[{"embedding":"${vector}","object":"höhe"}]}`,
    "vectors as numbers, and both": `{"data":[{"embedding":[1,2]},{"embedding":"${vector}"},{"embedding":0}]}`,
    "escaped slashes": `{"data":[{"embedding":"AA\\/A"},{"embedding":"${vector}"}]}`,
    "an escaped quote": `{"data":[{"embedding":"A\\"embedding\\":\\"B"},{"embedding":"${vector}"}]}`,
    "a key that ends with the word": `{"data":[{"my \\"embedding":"${vector}"},{"embedding":"${vector}"}]}`,
    "a vector beside the list": `{"embedding":"${vector}","data":[{"embedding":"AAAA"}]}`,
    "a vector below another name": `{"embeddings":[{"embedding":"${vector}"}]}`,
    "the word as a value": `{"object":"embedding","data":[{"object":"embedding","embedding":"${vector}"}]}`,
    "its own field __proto__": `{"data":[{"__proto__":{"embedding":"A"},"embedding":"${vector}"}]}`,
    "the texts that replace vectors": `{"data":[{"embedding":"1"},{"embedding":"0"}]}`,
    "no vectors": `{"error":{"message":"no"}}`,
    "a list": `[{"embedding":"${vector}"}]`
  }
  for (const [name, text] of Object.entries(texts)) {
    it(`${name}`, () => assert.deepStrictEqual(parsed(text), JSON.parse(text)))
  }

  const Any = Schema.Struct({
    embedding: Schema.Json,
    data: Schema.Array(
      Schema.Struct({ embedding: Schema.Union([Schema.String, Schema.Json]), other: Schema.Json })
    )
  })
  it.prop("any JSON", [Any], ([value]) => {
    const json = jsonRoundTrip(value)
    for (const indent of [0, 2]) assert.deepStrictEqual(parsed(JSON.stringify(json, null, indent)), json)
  })
})

describe("a response that is no JSON is undefined:", () => {
  for (const text of ["", "{", `{"data":[{"embedding":"${vector}"`, `{"data":[{"embedding":"AA`, "<html>"]) {
    it(`${JSON.stringify(text)}`, () => assert.isUndefined(parsed(text)))
  }
})

it("a byte order mark is skipped", () => {
  assert.deepStrictEqual(parsed(`\uFEFF{"data":[{"embedding":"${vector}"}]}`), {
    data: [{ embedding: vector }]
  })
})
