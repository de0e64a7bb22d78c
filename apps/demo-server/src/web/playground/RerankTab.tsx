/** Orders documents by their relevance to a question. */
import type { RerankResponse } from "@sluice/core/contract"
import { createRerank } from "../api/gateway.ts"
import { makeCall } from "../page/calls.ts"
import { persisted } from "../page/persisted.ts"
import { rerankSnippet } from "../snippets/calls.ts"
import { TextField } from "../ui/Fields.tsx"
import { pluralize } from "../ui/format.ts"
import { modelOf, type Tab } from "./Tab.tsx"

const query = persisted("rerank.query", "When is the lower gate opened?")

/** One document per line. */
const lines = persisted(
  "rerank.lines",
  [
    "The office sells moorings by the week.",
    "A lock gate weighs eight tons and is moved by hand.",
    "The lower gate is opened when the levels are even.",
    "Boats wait at the upper landing stage for the green light."
  ].join("\n")
)

const requestBody = () => ({
  model: modelOf("rerank"),
  query: query.value,
  documents: lines.value.match(/\S.*/g)?.map((line) => line.trim()) ?? []
})

/** The best document first. */
type Ranking = RerankResponse & { readonly documents: ReadonlyArray<string> }

const ranking = makeCall<Ranking>("The documents were ordered.")

/** The bars are relative to the best score: the range of scores depends on the model. */
const Result = () => {
  const { value } = ranking.now.value
  if (value === undefined) return null
  const { documents, results, usage } = value
  const best = Math.max(...results.map(({ relevance_score }) => relevance_score), Number.EPSILON)
  return (
    <figure class="stack ranked">
      <ol class="lines">
        {results.map(({ index, relevance_score: score }) => (
          <li key={index}>
            <span class="score">{score.toFixed(3)}</span>
            <span class="text">{documents[index]}</span>
            <span class="bar" style={{ inlineSize: `${Math.max(0, (score / best) * 100)}%` }} />
            <span class="quiet from">was {index + 1}</span>
          </li>
        ))}
      </ol>
      <figcaption class="quiet">
        Higher is better; the range depends on the model
        {usage?.total_tokens !== undefined && `. ${pluralize(usage.total_tokens, "token")}`}
      </figcaption>
    </figure>
  )
}

export const rerankTab: Tab = {
  name: "Rerank",
  lead: "Order documents by relevance to a question.",
  call: ranking,
  action: "Rerank",
  submit: () =>
    ranking.run(async (signal) => {
      const body = requestBody()
      return { ...(await createRerank(body, signal)), documents: body.documents }
    }),
  missing: () => (requestBody().documents.length === 0 ? "Add a document." : undefined),
  snippet: () => rerankSnippet(location.origin, requestBody()),
  Fields: () => (
    <>
      <TextField label="Question" rows={1} enterSends text={query} />
      <TextField label="Documents" rows={5} hint="One per line." text={lines} />
    </>
  ),
  Result
}
