/** Questions over HTTP, whole and streamed; the page, the reference, and the status. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import {
  AnswerBody,
  AnswerStreamEvent,
  DocumentText,
  ServerApi,
  ServerStatus
} from "../../apps/demo-server/src/contract/index.ts"
import { filesOf, testServer, TestServer } from "./TestServer.ts"

const harbour = `# Harbour rules

## Tides

The harbour master measures the tide every hour and writes it on the board.

## Fees

Mooring a boat overnight costs twelve crowns.
`

layer(testServer(), { excludeTestServices: true })("questions", (it) => {
  const question = "How much does mooring a boat overnight cost?"

  it.effect("an answer quotes the document exactly, and has a trace", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      yield* call("/documents", { body: filesOf({ "harbour.md": harbour }) })
      const answer = yield* json(AnswerBody, "/qa", { json: { question, recall: null, keep: 2 } })
      assert.isTrue(answer.found)
      assert.include(answer.answer, "twelve crowns")
      for (const sentence of answer.sentences) assert.isNotEmpty(sentence.citations)
      for (const citation of answer.citations) {
        const { text } = yield* json(DocumentText, `/documents/${citation.documentId}`)
        assert.strictEqual(text.slice(citation.start, citation.end), citation.quote)
      }
      assert.isAtMost(answer.trace.passages.filter(({ kept }) => kept).length, 2)
    })
  )

  it.effect("the same answer is streamed as events, sentences first", () =>
    Effect.gen(function* () {
      const { events, json } = yield* TestServer
      const seen = yield* events(AnswerStreamEvent, "/qa", { json: { question } })
      const types = seen.map(({ type }) => type)
      assert.isBelow(types.indexOf("recalled"), types.indexOf("sentence"))
      const last = seen.at(-1)
      const whole = yield* json(AnswerBody, "/qa", { json: { question } })
      assert.strictEqual(last?.type === "answer" ? last.answer.answer : "", whole.answer)
    })
  )

  it.effect("a question that the documents do not answer has no answer", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const answer = yield* json(AnswerBody, "/qa", {
        json: { question: "Which planet has the most moons?" }
      })
      assert.deepStrictEqual([answer.found, answer.citations.length], [false, 0])
    })
  )

  it.effect("an empty question and numbers out of range are rejected, streamed or not", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const bodies = [{ question: " " }, { question: "a?", keep: 0 }, { question: "a?", recall: 1000 }, {}]
      for (const accept of ["application/json", "text/event-stream"]) {
        const statuses = yield* Effect.forEach(bodies, (json) =>
          Effect.map(call("/qa", { json, headers: { accept } }), ({ status }) => status)
        )
        assert.deepStrictEqual(statuses, [400, 400, 400, 400])
      }
    })
  )

  it.effect("the OpenAPI document lists every path of the contract", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const served = yield* json(Schema.Json, "/openapi.json", { as: "none" })
      assert.deepStrictEqual(served, JSON.parse(JSON.stringify(OpenApi.fromApi(ServerApi))))
    })
  )

  it.effect("the reference and the page load nothing from other hosts", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      for (const path of ["/docs", "/"]) {
        const response = yield* call(path, { as: "none" })
        assert.strictEqual(response.status, 200)
        const policy = response.headers.get("content-security-policy") ?? ""
        assert.match(policy, /^default-src '(none|self)'/)
        assert.notMatch(policy, /https?:|\*/)
        const html = yield* Effect.promise(() => response.text())
        assert.notMatch(html, /<(?:script|link)[^>]+(?:src|href)="(?:https?:)?\/\//)
      }
    })
  )

  it.effect("files outside the built page are not served", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const paths = [
        "/assets/..%2f..%2fpackage.json",
        "/%2e%2e/package.json",
        "/..%5c..%5cpackage.json",
        "/%00"
      ]
      const statuses = yield* Effect.forEach(paths, (path) =>
        Effect.map(call(path, { as: "none" }), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, [404, 404, 404, 404])
    })
  )

  it.effect("the status has models and counts", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const status = yield* json(ServerStatus, "/status")
      assert.strictEqual(status.provider, "embedded")
      assert.isAtLeast(status.documents ?? 0, 1)
    })
  )
})
