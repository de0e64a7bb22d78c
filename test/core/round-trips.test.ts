/** Every schema of the contract, read off it: what one of them reads from the wire it writes again, and reads the same. */
import { assert, describe, it } from "@effect/vitest"
import { ChatChunk, ErrorBody, GatewayApi, encodeVector, decodeVector } from "@sluice/core/contract"
import { Effect, Predicate, Schema } from "effect"
import { HttpApi, HttpApiSchema } from "effect/http-api"
import { compileDecoder, compileEncoder } from "../../packages/core/src/client/transport/CompiledDecoder.ts"
import { jsonRoundTrip } from "./jsonRoundTrip.ts"

interface Sent {
  readonly name: string
  readonly schema: Schema.Codec<unknown, unknown>
}

const sent: Array<Sent> = [
  { name: "a failure", schema: ErrorBody },
  { name: "an event of a chat", schema: ChatChunk }
]
const add = (name: string, schemas: ReadonlyArray<Schema.Top>) => {
  for (const schema of schemas) {
    if (HttpApiSchema.isNoContent(schema.ast)) continue
    sent.push({ name, schema: schema as unknown as Schema.Codec<unknown, unknown> })
  }
}
HttpApi.reflect(GatewayApi, {
  onGroup() {},
  onEndpoint({ endpoint, successes }) {
    const name = `${endpoint.method} ${endpoint.path}`
    const payload: ReadonlyMap<string, { readonly schemas: ReadonlyArray<Schema.Top> }> = endpoint.payload
    for (const { schemas } of payload.values()) add(`${name}, its request`, schemas)
    for (const schemas of successes.values()) add(`${name}, its answer`, schemas)
  }
})

/** Vectors are checked by one predicate, which no arbitrary value can be derived from. */
const Embeddings = Schema.Struct({
  object: Schema.String,
  data: Schema.Array(
    Schema.Struct({
      index: Schema.Int,
      embedding: Schema.Union([Schema.String, Schema.Array(Schema.Finite)]),
      other: Schema.Json
    })
  ),
  model: Schema.NullOr(Schema.String),
  usage: Schema.Struct({ total_tokens: Schema.Int, other: Schema.Json })
})

const wireOf = ({ name, schema }: Sent): Schema.Codec<unknown, unknown> =>
  name === "POST /v1/embeddings, its answer"
    ? Embeddings
    : (Schema.toEncoded(Schema.toCodecJson(schema)) as unknown as Schema.Codec<unknown, unknown>)

describe("a decoded body encodes and decodes to the same value:", () => {
  it("covers every call", () => {
    const calls = new Set(sent.map(({ name }) => name.split(",")[0]))
    for (const call of ["POST /v1/rerank", "POST /v1/videos", "PUT /api/token/", "GET /api/user/self"]) {
      assert.isTrue(calls.has(call), call)
    }
    assert.isAtLeast(sent.length, 26)
  })

  for (const one of sent) {
    const codec = Schema.toCodecJson(one.schema)
    it.prop(one.name, [wireOf(one)], ([value]) => {
      const read = Schema.decodeUnknownSync(codec)(jsonRoundTrip(value))
      const written = jsonRoundTrip(Schema.encodeSync(codec)(read))
      const again = Schema.decodeUnknownSync(codec)(written)
      assert.deepStrictEqual(again, read)
      assert.deepStrictEqual(jsonRoundTrip(Schema.encodeSync(codec)(again)), written)
    })
  }

  it.prop("a vector, as Base64", [Schema.Array(Schema.Finite)], ([numbers]) => {
    const vector = Float32Array.from(numbers)
    if (vector.length > 0) assert.deepStrictEqual(decodeVector(encodeVector(vector)), vector)
  })
})

/** The value, with another in place of each field or element, without each field, and with fields that no schema declares. */
const variantsOf = (value: unknown, other: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) {
    const changed = value.slice(0, 2).flatMap((element) => variantsOf(element, other))
    return [value, other, ...changed.map((element) => [element, ...value.slice(1)])]
  }
  if (!Predicate.isObject(value)) return [value, other]
  const parts = Object.entries(value)
  const without = (name: string) => parts.filter(([one]) => one !== name)
  return [
    value,
    other,
    // `fromEntries` defines own fields: this is none of the prototype.
    Object.fromEntries([...parts, ["__proto__", other], ["constructor", other], ["more", other]]),
    ...parts.flatMap(([name, part]) => [
      Object.fromEntries(without(name)),
      ...variantsOf(part, other).map((changed) => Object.fromEntries([...without(name), [name, changed]]))
    ])
  ]
}

describe("compiled functions decode and encode as their schema:", () => {
  const outcome = (effect: Effect.Effect<unknown, Schema.SchemaError, unknown>) =>
    Effect.runSync(
      Effect.match(effect as Effect.Effect<unknown, Schema.SchemaError>, {
        onFailure: ({ message }) => ({ message }),
        onSuccess: (decoded) => ({ decoded })
      })
    )

  for (const one of sent) {
    const codec = Schema.toCodecJson(one.schema)
    it.prop(
      one.name,
      [wireOf(one), Schema.Json],
      ([value, other]) => {
        for (const wire of variantsOf(jsonRoundTrip(value), jsonRoundTrip(other))) {
          const compiled = outcome(compileDecoder(codec)(wire))
          assert.deepStrictEqual(compiled, outcome(Schema.decodeUnknownEffect(codec)(wire)))
          if (!("decoded" in compiled)) continue
          const encoded = outcome(Schema.encodeUnknownEffect(codec)(compiled.decoded))
          assert.deepStrictEqual(outcome(compileEncoder(codec)(compiled.decoded)), encoded)
        }
      },
      { arbitrary: { runs: 10 } }
    )
  }
})
