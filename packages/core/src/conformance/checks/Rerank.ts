/** `POST /v1/rerank`. */
import { Effect } from "effect"
import { check } from "../framework/Check.ts"
import { at, fault, listAt } from "../framework/Json.ts"
import { wantsModel } from "../framework/Models.ts"
import { ours, promised } from "../framework/Rule.ts"

const QUERY = "When does the lock keeper open the sluice?"
/** The last one answers the query; the others have nothing to do with it. */
const DOCUMENTS = [
  "Seventeen violins, two harps, one conductor.",
  "Bread is baked before dawn.",
  "The lock keeper opens the sluice at high water."
]
const RELEVANT = 2
const SECTION = "Rerank response"

const scoresOf = (json: unknown) =>
  listAt(json, "results").map((result) => Number(at(result, "relevance_score")))

export const rerank = check({
  call: "POST /v1/rerank",
  needs: "paid",
  section: "Endpoints › Rerank",
  form: promised(SECTION, "the answer has `results` with `index` and `relevance_score`"),
  model: "rerank",
  request: wantsModel("rerank", (model) => ({ body: { model, query: QUERY, documents: DOCUMENTS } })),
  rules: {
    complete: promised("Rerank request", "without `top_n` one result comes for each document"),
    index: promised(SECTION, "each `index` is a position in the documents submitted"),
    distinct: promised(SECTION, "no document comes twice"),
    relevance: promised(
      "What the service does",
      "the one document that answers the query has the highest score"
    ),
    topN: promised("Rerank request", "with `top_n` only so many results come, and the best is among them"),
    documents: promised("Rerank request", "with `return_documents` each result carries its document's text"),
    sorted: ours(SECTION, "results come from the highest score to the lowest"),
    generousTopN: ours("Rerank request", "a `top_n` larger than the number of documents gives all of them"),
    noDocument: ours(SECTION, "`document` is absent when it is not asked for, not null"),
    noDocuments: ours("Errors 3", "no documents are refused with 400 that names `documents`"),
    unknownModel: ours("Errors 3", "an unknown model is refused with 404")
  },
  run: Effect.fnUntraced(function* ({ answer, judge, refuses, session, skip, succeeds }) {
    const results = listAt(answer.json, "results")
    const indices = results.map((result) => Number(at(result, "index")))
    judge("complete", fault(results.length >= DOCUMENTS.length, `${results.length} results for 3 documents`))
    const outside = indices.filter((index) => index < 0 || index >= DOCUMENTS.length)
    judge("index", fault(outside.length === 0, `${outside.join(", ")} of 3 documents`))
    judge(
      "distinct",
      fault(new Set(indices).size === indices.length, `the indices are ${indices.join(", ")}`)
    )
    const scores = scoresOf(answer.json)
    const sorted = scores.every((score, nth) => nth === 0 || score <= (scores[nth - 1] ?? score))
    judge("sorted", fault(sorted, `the scores are ${scores.join(", ")}`))
    const documents = results.map((result) => at(result, "document"))
    judge(
      "noDocument",
      fault(
        documents.every((document) => document === undefined),
        "it is there"
      )
    )

    const request = { model: session.models.rerank, query: QUERY, documents: DOCUMENTS }
    const wrongIndex = outside.length > 0 || new Set(indices).size < indices.length
    yield* succeeds("topN", { body: { ...request, top_n: 2 } }, ({ json }) => {
      const first = listAt(json, "results")
      const best = wrongIndex || first.some((result) => at(result, "index") === RELEVANT)
      const many = fault(first.length === 2, `${first.length} results for \`top_n\` 2`)
      return many ?? fault(best, "the best of 3 documents is not among 2")
    })
    if (wrongIndex || !indices.includes(RELEVANT)) skip("relevance", "the indices are wrong")
    else {
      const best = scores[indices.indexOf(RELEVANT)] ?? 0
      const others = scores.filter((_, nth) => indices[nth] !== RELEVANT)
      const lower = others.every((score) => score < best)
      judge("relevance", fault(lower, `it has ${best}, the others ${others.join(", ")}`))
    }
    if (wrongIndex) skip("documents", "the indices are wrong")
    else
      yield* succeeds("documents", { body: { ...request, return_documents: true } }, ({ json }) => {
        const wrong = listAt(json, "results").filter(
          (result) => at(result, "document", "text") !== DOCUMENTS[Number(at(result, "index"))]
        )
        return fault(wrong.length === 0, `${wrong.length} of them do not`)
      })
    yield* succeeds("generousTopN", { body: { ...request, top_n: 9 } }, ({ json }) => {
      const { length } = listAt(json, "results")
      return fault(length === DOCUMENTS.length, `${length} results for 3 documents`)
    })
    yield* refuses("noDocuments", { body: { ...request, documents: [] } }, ({ json, status }) =>
      fault(status === 400 && at(json, "error", "param") === "documents", `status ${status}`)
    )
    yield* refuses("unknownModel", { body: { ...request, model: "no-such-model" } }, ({ status }) =>
      fault(status === 404, `status ${status}`)
    )
  })
})
