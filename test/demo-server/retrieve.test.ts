/** `POST /retrieve`: the passages for a question, without an answer. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { AnswerBody, DocumentText, RetrievalBody } from "../../apps/demo-server/src/contract/index.ts"
import { bearer, quotaOf } from "./AccountCalls.ts"
import { errorOf, testServer, TestServer } from "./TestServer.ts"

const harbour = `# Harbour rules

## Tides

The harbour master measures the tide every hour and writes it on the board.

## Fees

Mooring a boat overnight costs twelve crowns.
`

const question = "How much does mooring a boat overnight cost?"

/** The harbour rules with a web address, and another text without metadata. */
const upload = Effect.gen(function* () {
  const { call } = yield* TestServer
  const body = new FormData()
  for (const [path, text, metadata] of [
    ["harbour.md", harbour, { url: "https://harbour.example/rules", year: 2025 }],
    ["boats.md", "# Boats\n\nA boat for fishing costs more than a boat for mooring tests.", {}],
    ["script.md", "# Costs\n\nThe cost of a boat is its mooring.", { url: "javascript:alert(1)" }]
  ] as const) {
    body.append("metadata", JSON.stringify(metadata))
    body.append("files", new Blob([text]), path)
  }
  assert.strictEqual((yield* call("/documents", { body })).status, 200)
})

const Key = Schema.Struct({ data: Schema.Struct({ key: Schema.String }) })
const keyWith = (fields: object) =>
  Effect.gen(function* () {
    const { json } = yield* TestServer
    const all = { name: "key", expired_time: -1, remain_quota: 50_000, subnet: "", ...fields }
    return bearer((yield* json(Key, "/api/token/", { as: "token", json: all })).data.key)
  })

layer(testServer(), { excludeTestServices: true })("/retrieve", (it) => {
  it.effect("returns the kept passages of the same question, best first, with their places", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      yield* upload
      const asked = { question, keep: 2 }
      const { passages, trace } = yield* json(RetrievalBody, "/retrieve", { json: asked })
      const answer = yield* json(AnswerBody, "/qa", { json: asked })
      assert.deepStrictEqual(
        passages.map(({ rank }) => rank),
        [1, 2]
      )
      const best = answer.trace.passages.filter(({ kept }) => kept)
      assert.sameMembers(
        passages.map(({ id }) => id),
        best.map(({ passage }) => passage.id)
      )
      assert.deepStrictEqual(
        passages.map(({ score }) => score),
        best.map(({ rerankScore }) => rerankScore ?? 0).toSorted((a, b) => b - a)
      )
      const [first = assert.fail("no passage")] = passages
      assert.deepStrictEqual(first.headings, ["Harbour rules"])
      assert.include(first.text, "twelve crowns")
      const { text } = yield* json(DocumentText, `/documents/${first.document.id}`)
      assert.strictEqual(text.slice(first.start, first.end), first.text)
      assert.deepStrictEqual(
        trace.stages.filter(({ stage }) => stage === "read"),
        []
      )
    })
  )

  it.effect("returns the metadata of the documents, and their web addresses where they have one", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      yield* upload
      const { passages } = yield* json(RetrievalBody, "/retrieve", { json: { question, keep: 20 } })
      const byPath = new Map(
        passages.map(({ document, metadata, url }) => [document.path, { metadata, url }] as const)
      )
      assert.deepStrictEqual(byPath.get("harbour.md"), {
        metadata: { url: "https://harbour.example/rules", year: 2025 },
        url: "https://harbour.example/rules"
      })
      assert.isUndefined(byPath.get("boats.md")?.url)
      // An address that a page may not follow.
      assert.isUndefined(byPath.get("script.md")?.url)
    })
  )

  it.effect("filters, and rejects what /qa rejects with the same error", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      yield* upload
      const { passages } = yield* json(RetrievalBody, "/retrieve", {
        json: { question, filter: { documents: ["boats.md"] } }
      })
      assert.deepStrictEqual([...new Set(passages.map(({ document }) => document.path))], ["boats.md"])
      const rejected = [
        { question: " " },
        { question, keep: 5, recall: 2 },
        { question, collection: "none" },
        { question, filter: { documents: ["none.md"] } },
        { question, filter: { pages: { from: 3, to: 1 } } },
        { question, options: { keep: 1 } },
        { question, misspelt: 1 }
      ]
      for (const body of rejected) {
        const [retrieved, asked] = [
          yield* call("/retrieve", { json: body }),
          yield* call("/qa", { json: body })
        ]
        assert.isAtLeast(retrieved.status, 400, JSON.stringify(body))
        assert.strictEqual(retrieved.status, asked.status)
        assert.deepStrictEqual(yield* errorOf(retrieved), yield* errorOf(asked))
      }
    })
  )

  it.effect("costs what it says, and less than an answer", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      yield* upload
      const before = yield* quotaOf({ json })
      const { cost = 0 } = yield* json(RetrievalBody, "/retrieve", { json: { question } })
      assert.isAbove(cost, 0)
      assert.strictEqual(before - (yield* quotaOf({ json })), cost)
      const { cost: asked = 0 } = yield* json(AnswerBody, "/qa", { json: { question } })
      assert.isBelow(cost, asked)
    })
  )

  it.effect("needs access to the documents and the two models of retrieval, not the reader", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      yield* upload
      const retrieval = ["sluice-lexical-1024", "sluice-lexical-rerank"]
      const status = (path: string, fields: object) =>
        Effect.gen(function* () {
          return (yield* call(path, { ...(yield* keyWith(fields)), json: { question } })).status
        })
      assert.strictEqual(yield* status("/retrieve", { models: retrieval }), 200)
      assert.strictEqual(yield* status("/qa", { models: retrieval }), 403)
      assert.strictEqual(yield* status("/retrieve", { models: retrieval.slice(1) }), 403)
      assert.strictEqual(yield* status("/retrieve", { documents: false }), 403)
      assert.strictEqual((yield* call("/retrieve", { as: "none", json: { question } })).status, 401)
    })
  )
})
