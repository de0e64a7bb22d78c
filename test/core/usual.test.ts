import { assert, describe, it } from "@effect/vitest"
import { EmbeddingResponse, fromBase64, RerankResponse, toBase64 } from "@sluice/core/contract"
import { usualEmbeddings, usualRerank } from "../../packages/core/src/client/retrieval/Usual.ts"
import { Option, Schema } from "effect"

/** What is there, or nothing where it is not even JSON. */
const attempt = <A>(look: () => A): A | undefined => {
  try {
    return look()
  } catch {
    return undefined
  }
}

/** The same answer as a gateway may write it, and as one may that wants to deceive. */
const writings: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  spaced: (text) => text.replaceAll('":', '": ').replaceAll(",", ", "),
  "spaced before": (text) => text.replaceAll('":', '" :'),
  lines: (text) => text.replaceAll('":', '":\n'),
  escaped: (text) => text.replaceAll("/", "\\/"),
  "a key escaped": (text) => text.replace('"embedding":', '"\\u0065mbedding":'),
  "a key twice": (text) => text.replace('"embedding":', '"embedding":"AACAPw==","embedding":'),
  "a key twice, once escaped": (text) =>
    text.replace('"embedding":', '"embedding":"AACAPw==","\\u0065mbedding":'),
  "a key twice, once spaced": (text) => text.replace('"embedding":', '"embedding":"AACAPw==","embedding" :'),
  "a key more": (text) => text.replace("{", '{"embedding":"AACAPw==",'),
  "a byte order mark": (text) => `\ufeff${text}`,
  cut: (text) => text.slice(0, -1)
}
const Writing = Schema.Literals(Object.keys(writings))
const written = (answer: unknown, writing: string) =>
  Buffer.from(writings[writing]?.(JSON.stringify(answer)) ?? "")

/** What the contract makes of the same bytes. */
const contract = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, bytes: Buffer) =>
  Option.getOrUndefined(
    Schema.decodeUnknownOption(Schema.fromJsonString(schema))(new TextDecoder().decode(bytes))
  )

const Some = <S extends Schema.Constraint>(schema: S) => Schema.Union([schema, schema, schema, Schema.Json])
const Vector = Schema.Array(Schema.Finite).check(Schema.isMinLength(1), Schema.isMaxLength(3))
const Usage = Schema.Struct({
  prompt_tokens: Schema.optionalKey(Some(Schema.Int)),
  total_tokens: Schema.optionalKey(Some(Schema.Int))
})
const Embeddings = Schema.Struct({
  object: Schema.optionalKey(Some(Schema.Literal("list"))),
  model: Schema.optionalKey(Schema.NullOr(Some(Schema.String))),
  usage: Schema.optionalKey(Some(Usage)),
  id: Schema.optionalKey(Schema.Json),
  data: Schema.Array(
    Schema.Struct({
      object: Schema.optionalKey(Schema.NullOr(Schema.Literal("embedding"))),
      index: Some(Schema.Int),
      embedding: Schema.Union([Vector, Vector, Vector, Schema.Int, Schema.String, Schema.Literal("AAA=")]),
      floats: Schema.Literals([false, false, false, true]),
      flag: Schema.optionalKey(Schema.Json)
    })
  ).check(Schema.isMaxLength(4))
})
const Rerank = Schema.Struct({
  id: Schema.optionalKey(Some(Schema.String)),
  model: Schema.optionalKey(Schema.NullOr(Schema.String)),
  usage: Schema.optionalKey(Some(Usage)),
  meta: Schema.optionalKey(Schema.Json),
  results: Schema.Array(
    Schema.Struct({
      index: Some(Schema.Int),
      relevance_score: Some(Schema.Finite),
      document: Schema.optionalKey(Some(Schema.Struct({ text: Schema.String }))),
      flag: Schema.optionalKey(Schema.Json)
    })
  ).check(Schema.isMaxLength(4))
})

const decoded = (answer: EmbeddingResponse | undefined): unknown => ({
  ...answer,
  data: answer?.data.map(({ embedding, ...item }) => ({
    ...item,
    embedding: typeof embedding === "string" ? fromBase64(embedding) : embedding
  }))
})

describe("the usual form of an answer", () => {
  it.prop(
    "is to an answer of embeddings what the contract is, or nothing",
    [Embeddings, Writing],
    ([answer, writing]) => {
      const data = answer.data.map(({ embedding, floats, ...item }) => ({
        ...item,
        embedding: Array.isArray(embedding) && !floats ? toBase64(Float32Array.from(embedding)) : embedding
      }))
      const bytes = written({ ...answer, data }, writing)
      const usual = attempt(() => usualEmbeddings(bytes))
      if (usual === undefined) return
      assert.deepStrictEqual<unknown>(usual, decoded(contract(EmbeddingResponse, bytes)))
    },
    { arbitrary: { runs: 2000 } }
  )

  it.prop(
    "is to an answer of rerank what the contract is, or nothing",
    [Rerank, Writing],
    ([answer, writing]) => {
      const bytes = written(answer, writing)
      const usual = attempt(() => usualRerank(bytes))
      if (usual !== undefined) assert.deepStrictEqual(usual, contract(RerankResponse, bytes))
    },
    { arbitrary: { runs: 2000 } }
  )

  const vector = Float32Array.of(0.5, -1, 2)
  const usage = { prompt_tokens: 3, total_tokens: 3 }
  const embeddings = {
    object: "list",
    data: [1, 0].map((index) => ({ object: "embedding", embedding: toBase64(vector), index })),
    model: "模型",
    usage
  }
  const rerank = {
    id: "r",
    results: [{ index: 1, relevance_score: 0.5, document: { text: "é" } }],
    meta: { billed_units: { search_units: 1 } },
    usage
  }
  for (const writing of ["plain", "spaced"]) {
    it(`is that of gateways as they are: ${writing}`, () => {
      assert.deepStrictEqual(
        usualEmbeddings(written(embeddings, writing))?.data.map(({ embedding }) => embedding),
        [vector, vector]
      )
      assert.deepStrictEqual(usualRerank(written(rerank, writing)), rerank)
    })
  }
})
