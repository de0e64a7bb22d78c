/** `POST /summary`: a summary of documents, and what it would cost. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SummaryBody, SummaryPlanBody } from "../../apps/demo-server/src/contract/index.ts"
import { errorOf, testServer, TestServer } from "./TestServer.ts"

const FILES = {
  "canal.md":
    "# Canal\n\nThe canal has nine locks between the harbour and the lake. Each lock of the canal lifts a boat by three metres.",
  "bees.md": "# Bees\n\nThe bees of the monastery made forty jars of honey in a good year."
}

const upload = Effect.gen(function* () {
  const { call } = yield* TestServer
  const body = new FormData()
  for (const [path, text] of Object.entries(FILES)) body.append("files", new Blob([text]), path)
  assert.strictEqual((yield* call("/documents", { body })).status, 200)
})

layer(testServer(), { excludeTestServices: true })("/summary", (it) => {
  it.effect("summarises the documents of a filter, with a source for each sentence", () =>
    Effect.gen(function* () {
      yield* upload
      const { json } = yield* TestServer
      const asked = { filter: { documents: ["canal.md"] }, sentences: 1 }
      const { cost, plan, sentences, citations } = yield* json(SummaryBody, "/summary", { json: asked })
      assert.deepStrictEqual([plan.method, plan.documents, plan.cost, cost], ["extractive", 1, 0, 0])
      assert.deepStrictEqual(
        sentences.map((sentence) => sentence.citations),
        [[1]]
      )
      assert.include(FILES["canal.md"], citations[0]?.quote ?? "?")
    })
  )

  it.effect("with `plan` says only what would be read", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const { plan } = yield* json(SummaryPlanBody, "/summary", { json: { plan: true } })
      assert.deepStrictEqual([plan.documents, plan.calls], [2, 0])
    })
  )

  it.effect("rejects unknown documents and fields, and no credential", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const unknown = yield* call("/summary", { json: { filter: { documents: ["x.md"] } } })
      assert.strictEqual(unknown.status, 404)
      assert.include((yield* errorOf(unknown)).message, "x.md")
      assert.strictEqual((yield* call("/summary", { json: { filters: {} } })).status, 400)
      assert.strictEqual((yield* call("/summary", { as: "none", json: {} })).status, 401)
    })
  )
})
