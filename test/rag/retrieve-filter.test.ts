/** Filters: which passages each one matches. */
import { assert, describe, it } from "@effect/vitest"
import { Filter, type FilterField } from "@sluice/rag"
import { type Filterable, matches } from "@sluice/rag/retrieval"
import { Schema } from "effect"

const of: Filterable = {
  passage: {
    document: { id: "0123", path: "manuals/pump's guide.pdf", title: "Pumps; DROP TABLE --", format: "pdf" },
    page: 3,
    figure: { kind: "table", caption: "" }
  },
  metadata: {
    year: 2024,
    draft: false,
    owner: null,
    "a.b c": "100% _safe_",
    camelCase: { inner: { tags: ["x", "y", null] } },
    authors: ["Ada", "Bo"],
    empty: []
  }
}
const holds = (filter: Filter) => matches(filter, of)
const meta = (...keys: [string, ...Array<string>]): FilterField => ["metadata", ...keys]

describe("Filter", () => {
  it("compares each field exactly", () => {
    assert.isTrue(holds(Filter.equals("document", "0123")))
    assert.isTrue(holds(Filter.equals("path", "manuals/pump's guide.pdf")))
    assert.isFalse(holds(Filter.equals("path", "manuals/pump''s guide.pdf")))
    assert.isTrue(holds(Filter.equals("title", "Pumps; DROP TABLE --")))
    assert.isTrue(holds(Filter.in("format", ["html", "pdf"])))
    assert.isTrue(holds(Filter.equals("kind", "table")))
    assert.isFalse(holds(Filter.equals("page", "3")))
    assert.isTrue(holds(Filter.equals("page", 3)))
    assert.isFalse(holds(Filter.in("page", [])))
  })

  it("includes both ends of a range, compares strings by code unit, and knows no wildcards", () => {
    assert.isTrue(holds(Filter.range("page", { from: 3, to: 3 })))
    assert.isFalse(holds(Filter.range("page", { from: 4 })))
    assert.isFalse(holds(Filter.range("page", { from: "1" })))
    assert.isTrue(holds(Filter.range("title", { from: "P", to: "Q" })))
    assert.isFalse(holds(Filter.range("title", { from: "a" })))
    assert.isTrue(holds(Filter.range(meta("year"), {})))
    assert.isFalse(holds(Filter.range(meta("draft"), {})))
    assert.isTrue(holds(Filter.prefix("path", "manuals/")))
    assert.isFalse(holds(Filter.prefix("path", "%")))
    assert.isTrue(holds(Filter.prefix(meta("a.b c"), "100%")))
  })

  it("matches metadata by its path of keys, any element of an array, and null for a missing value", () => {
    assert.isTrue(holds(Filter.equals(meta("camelCase", "inner", "tags"), "y")))
    assert.isTrue(holds(Filter.equals(meta("camelCase", "inner", "tags"), null)))
    assert.isFalse(holds(Filter.equals(meta("camelCase", "inner"), "y")))
    assert.isTrue(holds(Filter.prefix(meta("authors"), "B")))
    assert.isTrue(holds(Filter.equals(meta("owner"), null)))
    assert.isTrue(holds(Filter.equals(meta("nobody", "knows"), null)))
    assert.isFalse(holds(Filter.equals(meta("empty"), null)))
    assert.isTrue(holds(Filter.equals(meta("toString"), null)))
    assert.isTrue(matches(Filter.equals(meta("year"), null), { passage: of.passage }))
    assert.isTrue(matches(Filter.equals("page", null), { passage: { document: of.passage.document } }))
    assert.isTrue(matches(Filter.equals("kind", "passage"), { passage: { document: of.passage.document } }))
  })

  it("combines and negates conditions", () => {
    const yes = Filter.equals("format", "pdf")
    const no = Filter.equals("format", "html")
    assert.deepStrictEqual(
      [Filter.and(), Filter.or(), Filter.and(yes, no), Filter.or(no, yes), Filter.not(no)].map(holds),
      [true, false, false, true, true]
    )
    assert.isTrue(holds(Filter.not(Filter.equals(meta("missing"), "x"))))
  })

  it("is decoded from its JSON, and rejects all other values", () => {
    const filter = Filter.and(
      Filter.or(Filter.in("kind", ["figure", "table"]), Filter.not(Filter.prefix("path", "a'; --"))),
      Filter.range(meta("year"), { from: 2020 })
    )
    const decode = Schema.decodeUnknownSync(Filter.schema)
    assert.deepStrictEqual(decode(JSON.parse(JSON.stringify(filter))), filter)
    for (const wrong of [
      { _tag: "Equals", field: "text", value: "x" },
      { _tag: "Equals", field: ["metadata"], value: "x" },
      { _tag: "Equals", field: "page", value: {} },
      { _tag: "Sql", text: "1 = 1" }
    ]) {
      assert.throws(() => decode(wrong))
    }
  })
})
