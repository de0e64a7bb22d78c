/** Questions to one collection, with filters, and their cost. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  AnswerBody,
  AnswerStreamEvent,
  CollectionInfo,
  DocumentInfoSchema,
  IngestReportBody,
  MAX_DEPTH,
  MAX_TEXT
} from "../../apps/demo-server/src/contract/index.ts"
import { toFilter } from "../../apps/demo-server/src/documents/QuestionFilter.ts"
import { MadeUser, quotaOf } from "./AccountCalls.ts"
import { type CallOptions, filesOf, testServer, TestServer } from "./TestServer.ts"

const rules = (fee: string) => `# Harbour rules\n\nMooring a boat overnight costs ${fee} crowns.\n`
const question = "How much does mooring a boat overnight cost?"

const Listed = Schema.Struct({ documents: Schema.Array(DocumentInfoSchema) })
const Collections = Schema.Struct({ collections: Schema.Array(CollectionInfo) })
const Refusal = Schema.Struct({
  error: Schema.Struct({
    message: Schema.String,
    param: Schema.NullOr(Schema.String),
    code: Schema.NullOr(Schema.String)
  })
})

/** A form with the `metadata` of each file before it. */
const formOf = (...parts: ReadonlyArray<readonly [path: string, text: string, metadata?: string]>) => {
  const form = new FormData()
  for (const [path, text, metadata] of parts) {
    if (metadata !== undefined) form.append("metadata", metadata)
    form.append("files", new Blob([text]), path)
  }
  return form
}

const nested = (depth: number): unknown =>
  depth === 1 ? { _tag: "Equals", field: "page", value: 1 } : { _tag: "Not", filter: nested(depth - 1) }

layer(testServer(), { excludeTestServices: true })("questions to a collection", (it) => {
  it.effect("a collection answers from its own documents, and is listed after its first upload", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      yield* json(IngestReportBody, "/documents", { body: filesOf({ "rules.md": rules("twelve") }) })
      const harbour = "/documents?collection=harbour-2"
      assert.strictEqual((yield* call(harbour)).status, 404)
      yield* json(IngestReportBody, harbour, { body: filesOf({ "rules.md": rules("ninety") }) })
      const { collections } = yield* json(Collections, "/collections")
      assert.deepInclude(collections, { name: "harbour-2", documents: 1, passages: 1 })
      assert.include(
        collections.map(({ name }) => name),
        "default"
      )

      const ask = (asked: object) => json(AnswerBody, "/qa", { json: { question, ...asked } })
      assert.include((yield* ask({ collection: "harbour-2" })).answer, "ninety")
      assert.include((yield* ask({ collection: null })).answer, "twelve")

      const { documents } = yield* json(Listed, harbour)
      const path = `/documents/${documents[0]?.id}?collection=`
      assert.strictEqual((yield* call(`${path}harbour-2`, { method: "DELETE" })).status, 204)
      assert.isNotEmpty((yield* json(Listed, "/documents")).documents)
      assert.isEmpty((yield* json(Listed, harbour)).documents)
    })
  )

  it.effect("a missing collection is 404, an invalid name 400, and neither is created", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      // The default collection is not compared: the samples are being added to it.
      const names = Effect.map(json(Collections, "/collections"), ({ collections }) =>
        collections.map(({ name }) => name)
      )
      const before = yield* names
      const statuses = yield* Effect.forEach(
        ["nowhere", "a/b", "", "x".repeat(65), "' OR 1=1"],
        (collection) =>
          Effect.all([
            Effect.map(call("/qa", { json: { question, collection } }), ({ status }) => status),
            Effect.map(
              call(`/documents?collection=${encodeURIComponent(collection)}`),
              ({ status }) => status
            )
          ])
      )
      assert.deepStrictEqual(statuses, [[404, 404], ...Array.from({ length: 4 }, () => [400, 400])])
      assert.strictEqual((yield* call("/documents?colection=harbour-2")).status, 400)
      assert.deepStrictEqual(yield* names, before)
    })
  )

  it.effect("a collection is created empty and removed, free of charge and only by its owner", () =>
    Effect.gen(function* () {
      const { call, json, secrets } = yield* TestServer
      const status = (path: string, options?: CallOptions) =>
        Effect.map(call(path, options), ({ status }) => status)
      const names = Effect.map(json(Collections, "/collections"), ({ collections }) =>
        collections.map(({ name }) => name)
      )
      const quota = quotaOf({ json })
      const made = yield* json(CollectionInfo, "/collections/summer", { method: "PUT" })
      assert.deepStrictEqual(made, { name: "summer", documents: 0, passages: 0 })
      assert.include(yield* names, "summer")
      const into = "/documents?collection=summer"
      yield* json(IngestReportBody, into, { body: filesOf({ "rules.md": rules("seventy") }) })
      assert.strictEqual((yield* json(CollectionInfo, "/collections/summer", { method: "PUT" })).documents, 1)
      const [document] = (yield* json(Listed, into)).documents

      const others = { as: "token", json: { username: "ann", quota: 1_000 } } as const
      const { access_token } = (yield* json(MadeUser, "/api/user", others)).data
      const cookie = yield* call("/session", { as: "none", json: { accessToken: access_token } })
      const asAnn = {
        as: "none",
        headers: { cookie: cookie.headers.get("set-cookie") ?? "", "sec-fetch-site": "same-origin" }
      } as const
      assert.strictEqual(yield* status("/documents", asAnn), 200)
      assert.strictEqual(yield* status("/collections/summer", { ...asAnn, method: "DELETE" }), 404)
      assert.strictEqual(yield* status("/collections/summer", { as: "none", method: "DELETE" }), 401)
      const elsewhere = { cookie: asAnn.headers.cookie, "sec-fetch-site": "cross-site" }
      const foreign = { as: "none", method: "DELETE", headers: elsewhere } as const
      assert.strictEqual(yield* status("/collections/default", foreign), 403)
      const key = { headers: { authorization: `Bearer ${secrets.apiKey}` }, method: "DELETE" }
      for (const [path, expected] of [
        ["/collections/default", 409],
        ["/collections/nowhere", 404],
        ["/collections/a%2Fb", 400]
      ] as const)
        assert.strictEqual(yield* status(path, key), expected, path)

      const before = yield* quota
      assert.strictEqual(yield* status("/collections/summer", key), 204)
      assert.strictEqual(yield* quota, before)
      assert.notInclude(yield* names, "summer")
      const gone = yield* Effect.all([
        status(into),
        status(`/documents/${document?.id}?collection=summer`),
        status("/qa", { json: { question, collection: "summer" } }),
        status("/collections/summer", key)
      ])
      assert.deepStrictEqual(gone, [404, 404, 404, 404])
      // The name can be used again.
      yield* json(IngestReportBody, into, { body: filesOf({ "new.md": rules("eighty") }) })
      const { answer } = yield* json(AnswerBody, "/qa", { json: { question, collection: "summer" } })
      assert.include(answer, "eighty")
    })
  )

  it.effect("the cost in the answer and in the last event equals the debit", () =>
    Effect.gen(function* () {
      const { events, json } = yield* TestServer
      const quota = quotaOf({ json })
      const before = yield* quota
      const { cost } = yield* json(AnswerBody, "/qa", { json: { question } })
      const between = yield* quota
      assert.isAbove(cost ?? 0, 0)
      assert.strictEqual(before - between, cost)
      const last = (yield* events(AnswerStreamEvent, "/qa", { json: { question } })).at(-1)
      assert.strictEqual(last?.type === "answer" ? last.answer.cost : undefined, between - (yield* quota))
    })
  )

  it.effect("metadata applies to the files after it, and unknown fields are rejected", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const into = "/documents?collection=years"
      const body = formOf(
        ["plain.md", rules("three")],
        ["old.md", rules("four"), '{"year": 1999, "Ship\'s name": "Ada"}'],
        ["older.md", rules("five")],
        ["new.md", rules("six"), "{}"]
      )
      assert.deepInclude(yield* json(IngestReportBody, into, { body }), { added: 4, failed: [] })
      const { documents } = yield* json(Listed, into)
      const attached = Object.fromEntries(documents.map(({ metadata, path }) => [path, metadata]))
      const old = { year: 1999, "Ship's name": "Ada" }
      assert.deepInclude(attached, { "old.md": old, "older.md": old, "plain.md": undefined })

      const refused = yield* Effect.forEach(
        [
          formOf(["a.md", rules("one"), "[1]"]),
          formOf(["a.md", rules("one"), "{no"]),
          formOf(["a.md", rules("one"), `{"deep": ${"[".repeat(9_000)}${"]".repeat(9_000)}}`]),
          formOf(["a.md", rules("one"), `{"long": "${"x".repeat(80_000)}"}`])
        ],
        (bad) => Effect.map(call(into, { body: bad }), ({ status }) => status)
      )
      for (const status of refused) assert.include([200, 413, 422], status)
      const after = yield* json(Listed, into)
      assert.notInclude(
        after.documents.map(({ path }) => path),
        "a.md"
      )
      const last = formOf(["kept.md", rules("seven")])
      last.append("metadata", "{}")
      const response = yield* call(into, { body: last })
      assert.strictEqual(response.status, 422)
      assert.include(yield* Effect.promise(() => response.text()), "before them")
    })
  )

  it.effect("an invalid filter is rejected, naming the field", () =>
    Effect.gen(function* () {
      const { json, call } = yield* TestServer
      const filters: ReadonlyArray<unknown> = [
        "path = 'x'",
        { _tag: "Equals", field: "path; DROP TABLE", value: 1 },
        { _tag: "Like", field: "path", value: "%" },
        { kind: ["figure"] },
        { kinds: ["picture"] },
        { pages: { from: 0 } },
        { documents: ["x".repeat(MAX_TEXT + 1)] },
        nested(MAX_DEPTH + 1),
        nested(3_000)
      ]
      for (const filter of filters) {
        const response = yield* call("/qa", { json: { question, filter } })
        assert.strictEqual(response.status, 400, JSON.stringify(filter).slice(0, 80))
      }
      const misspelt = yield* json(Refusal, "/qa", { json: { question, filters: {} } })
      assert.strictEqual(misspelt.error.param, "filters")
      // A field of one form is not reported as unknown because another form lacks it.
      for (const [filter, param, said] of [
        [{ documents: "handbook/" }, "filter.documents", /Expected array/],
        [{ metadata: { deep: { year: 1 } } }, "filter.metadata.deep", /Expected string/],
        [{ pages: { from: 0 } }, "filter.pages.from", /greater than or equal to 1/],
        // A filter that can match nothing is an error.
        [{ pages: { from: 5, to: 2 } }, "filter.pages", /from 5 to 2.*Swap the two/],
        [{ pages: {} }, "filter.pages", /neither/],
        [{ documents: [] }, "filter.documents", /empty list/],
        [{ kinds: [] }, "filter.kinds", /empty list/],
        [{ metadata: { year: [] } }, "filter.metadata.year", /empty list/],
        [{ where: { _tag: "In", field: "path", values: [] } }, "filter.where", /empty list/],
        [{ _tag: "Or", filters: [] }, "filter.filters", /empty list/],
        [{ _tag: "Equals", field: "kind", value: "picture" }, "filter", /passage, figure, table/],
        [{ _tag: "In", field: "format", values: ["pdf", "PDF"] }, "filter", /"PDF".*markdown/],
        [{ _tag: "Equals", field: "page", value: "2" }, "filter", /numbers from 1/],
        [{ _tag: "Equals", field: "path", value: null }, "filter", /strings/],
        [{ _tag: "Prefix", field: "page", prefix: "1" }, "filter", /Use `Range`/],
        [{ _tag: "Range", field: ["metadata", "year"], from: 3, to: "4" }, "filter", /same type/],
        [
          { _tag: "And", filters: [nested(1), { _tag: "Range", field: "title", from: "b", to: "a" }] },
          "filter.filters.1",
          /Swap/
        ],
        [{ nope: 1 }, "filter.nope", /^`filter\.nope` is not a known field: leave it out$/],
        [{ _tag: "Equals", field: "path", value: "x", nope: 1 }, "filter.nope", /is not a known field/]
      ] as const) {
        const { error } = yield* json(Refusal, "/qa", { json: { question, filter } })
        assert.strictEqual(error.param, param)
        assert.match(error.message, said)
      }
      const everything = { _tag: "Not", filter: { _tag: "In", field: "path", values: [] } }
      for (const filter of [nested(MAX_DEPTH), everything, {}, { metadata: {} }])
        assert.strictEqual((yield* call("/qa", { json: { question, filter } })).status, 200)
      const kept = yield* json(Refusal, "/qa", { json: { question, recall: 3, keep: 4 } })
      assert.strictEqual(kept.error.param, "keep")
      assert.strictEqual((yield* call("/qa", { json: { question: "x".repeat(MAX_TEXT + 1) } })).status, 400)
    })
  )

  it.effect("a filter limits the answer by document, kind and metadata", () =>
    Effect.gen(function* () {
      const { json } = yield* TestServer
      const table =
        "# Prices\n\n| boat | night |\n| --- | --- |\n| skiff | nine crowns |\n| barge | fifty crowns |\n"
      const into = "/documents?collection=filtered"
      yield* json(IngestReportBody, into, {
        body: formOf(
          ["old/rules.md", rules("four"), '{"year": 1999}'],
          ["new/rules.md", rules("sixty"), '{"year": 2026}'],
          ["new/prices.md", table]
        )
      })
      const recalled = (filter: unknown, asked = question) =>
        Effect.map(
          json(AnswerBody, "/qa", { json: { question: asked, collection: "filtered", filter } }),
          ({ trace }) => new Set(trace.passages.map(({ passage }) => passage.document.path))
        )
      const all = ["new/prices.md", "new/rules.md", "old/rules.md"]
      assert.deepStrictEqual([...(yield* recalled(null))].toSorted(), all)
      assert.deepStrictEqual([...(yield* recalled({ documents: ["old/rules.md"] }))], ["old/rules.md"])
      assert.deepStrictEqual([...(yield* recalled({ metadata: { year: [1999, 2000] } }))], ["old/rules.md"])
      assert.deepStrictEqual([...(yield* recalled({ kinds: ["table"] }))], ["new/prices.md"])
      assert.deepStrictEqual([...(yield* recalled({ documents: ["new/"] }))].toSorted(), all.slice(0, 2))
      const typed = { _tag: "Not", filter: { _tag: "Prefix", field: "path", prefix: "new/" } }
      assert.deepStrictEqual([...(yield* recalled(typed))], ["old/rules.md"])
      const odd = [
        "nothing'; DROP TABLE collections; --",
        "%",
        "_ld/rules.md",
        '"old/rules.md"',
        "\\",
        "\0",
        "' OR '1'='1",
        "'".repeat(MAX_TEXT)
      ]
      for (const path of odd) {
        assert.isEmpty(yield* recalled({ metadata: { year: path } }), path.slice(0, 40))
        assert.isEmpty(yield* recalled({ where: { _tag: "Prefix", field: "title", prefix: path } }))
        assert.isEmpty(yield* recalled({ _tag: "Equals", field: ["metadata", path], value: path }))
      }
      assert.strictEqual((yield* recalled(null)).size, 3, "and nothing is lost by it")

      const refusal = (filter: unknown) =>
        json(Refusal, "/qa", { json: { question, collection: "filtered", filter } })
      for (const path of [...odd, "old", "old/rules", "rules.md", "older/", "0".repeat(32)]) {
        const { error } = yield* refusal({ documents: ["old/rules.md", path] })
        assert.deepInclude(error, { param: "filter.documents", code: "not_found" }, path.slice(0, 40))
        assert.include(error.message, "GET /documents")
      }
      const { error } = yield* refusal({ metadata: { yaer: 1999 } })
      assert.strictEqual(error.param, "filter.metadata")
      assert.include(error.message, '"year"')
      assert.strictEqual((yield* recalled({ metadata: { yaer: null } })).size, 3, "none has it, and none may")
    })
  )

  it.effect("all conditions of the short form must hold", () =>
    Effect.sync(() => {
      const id = "0123456789abcdef0123456789abcdef"
      assert.isUndefined(toFilter({}))
      assert.deepStrictEqual(toFilter({ kinds: ["figure", "table"] }), {
        _tag: "In",
        field: "kind",
        values: ["figure", "table"]
      })
      assert.deepStrictEqual(
        toFilter({
          documents: [id, "a.md", "manuals/"],
          pages: { from: 2 },
          metadata: { year: [1999, 2000], author: null }
        }),
        {
          _tag: "And",
          filters: [
            {
              _tag: "Or",
              filters: [
                { _tag: "In", field: "document", values: [id] },
                { _tag: "In", field: "path", values: ["a.md"] },
                { _tag: "Prefix", field: "path", prefix: "manuals/" }
              ]
            },
            { _tag: "Range", field: "page", from: 2 },
            { _tag: "In", field: ["metadata", "year"], values: [1999, 2000] },
            { _tag: "Equals", field: ["metadata", "author"], value: null }
          ]
        }
      )
    })
  )
})
