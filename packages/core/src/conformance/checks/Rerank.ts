/** `POST /v1/rerank`. */
import { Effect } from "effect"
import { check, refuses, requiredFields } from "../framework/Check.ts"
import { hasStatus } from "../framework/Request.ts"
import { modelRequest, unknownModel } from "../framework/Models.ts"
import { at, failUnless, hasLength, interfaceRule, listAt, ownRule } from "../framework/Rule.ts"

const QUERY = "When does the lock keeper open the sluice?"
/** Only the last one answers the query. */
const DOCUMENTS = [
  "Seventeen violins, two harps, one conductor.",
  "Bread is baked before dawn.",
  "The lock keeper opens the sluice at high water."
]
const RELEVANT = 2
const SECTION = "Rerank response"
const REQUEST = "Rerank request"
const SERVICE = "What the service does"

export const rerank = check({
  call: "POST /v1/rerank",
  needs: "paid",
  section: "Endpoints › Rerank",
  form: interfaceRule(SECTION, "the response has `results` with `index` and `relevance_score`"),
  model: "rerank",
  request: modelRequest("rerank", (model) => ({ body: { model, query: QUERY, documents: DOCUMENTS } })),
  rules: {
    complete: interfaceRule(REQUEST, "without `top_n` there is one result for each document"),
    index: interfaceRule(SECTION, "each `index` is a position in the documents submitted"),
    distinct: interfaceRule(SECTION, "no document is repeated"),
    relevance: interfaceRule(SERVICE, "the one document that answers the query has the highest score"),
    topN: interfaceRule(REQUEST, "with `top_n` there are at most that many results, and the best is one"),
    documents: interfaceRule(REQUEST, "with `return_documents` each result carries its document's text"),
    sorted: ownRule(SECTION, "results are ordered from the highest score to the lowest"),
    generousTopN: ownRule(REQUEST, "a `top_n` larger than the number of documents gives all of them"),
    noDocument: ownRule(SECTION, "`document` is absent, not null, when it was not requested"),
    ...requiredFields(REQUEST, "model", "query", "documents"),
    list: refuses(REQUEST, "`documents` that are not a list are refused", { documents: DOCUMENTS[0] }),
    wholeTopN: refuses(REQUEST, "a `top_n` that is not an integer is refused", { top_n: 1.5 }),
    noDocuments: {
      ...ownRule("Errors 3", "an empty list is refused with 400 and `param` `documents`"),
      changes: [{ documents: [] }],
      judge: hasStatus(400, "documents")
    },
    unknownModel
  },
  run: Effect.fnUntraced(function* ({ response, expect, session, skip, expectSuccess }) {
    const results = listAt(response.json, "results")
    const indices = results.map((result) => Number(at(result, "index")))
    expect("complete", results.length >= DOCUMENTS.length, `${results.length} results for 3 documents`)
    const outside = indices.filter((index) => index < 0 || index >= DOCUMENTS.length)
    expect("index", outside.length === 0, `${outside.join(", ")} of 3 documents`)
    expect("distinct", new Set(indices).size === indices.length, `the indices are ${indices.join(", ")}`)
    const scores = results.map((result) => Number(at(result, "relevance_score")))
    const sorted = scores.every((score, nth) => nth === 0 || score <= (scores[nth - 1] ?? score))
    expect("sorted", sorted, `the scores are ${scores.join(", ")}`)
    const hasDocument = results.some((result) => at(result, "document") !== undefined)
    expect("noDocument", !hasDocument, "it is there")

    const request = { model: session.models.rerank, query: QUERY, documents: DOCUMENTS }
    const wrongIndex = outside.length > 0 || new Set(indices).size < indices.length
    yield* expectSuccess("topN", { body: { ...request, top_n: 2 } }, ({ json }) => {
      const first = listAt(json, "results")
      const best = wrongIndex || first.some((result) => at(result, "index") === RELEVANT)
      const many = failUnless(first.length === 2, `${first.length} results for \`top_n\` 2`)
      return many ?? failUnless(best, "the best of 3 documents is not among 2")
    })
    if (wrongIndex || !indices.includes(RELEVANT)) skip("relevance", "the indices are wrong")
    else {
      const best = scores[indices.indexOf(RELEVANT)] ?? 0
      const others = scores.filter((_, nth) => indices[nth] !== RELEVANT)
      const lower = others.every((score) => score < best)
      expect("relevance", lower, `it has ${best}, the others ${others.join(", ")}`)
    }
    if (wrongIndex) skip("documents", "the indices are wrong")
    else
      yield* expectSuccess("documents", { body: { ...request, return_documents: true } }, ({ json }) => {
        const wrong = listAt(json, "results").filter(
          (result) => at(result, "document", "text") !== DOCUMENTS[Number(at(result, "index"))]
        )
        return failUnless(wrong.length === 0, `${wrong.length} of them do not`)
      })
    const all = hasLength("results", DOCUMENTS.length, "results for 3 documents")
    yield* expectSuccess("generousTopN", { body: { ...request, top_n: 9 } }, all)
  })
})
