/** A question, documents, and their order. */
import { rerankSnippet } from "../snippets/text.ts"
import { counted } from "../ui/counted.ts"
import { modelOf } from "./chosenModel.ts"
import { documentsOf, lines, query, rank, ranking, type Ranked } from "./rerank.ts"
import { TextField } from "../ui/Fields.tsx"
import { ModelField } from "./ModelField.tsx"
import { Try } from "./CallForm.tsx"

/** Scores are in the model's own range: the bars compare them with the best. */
const Result = ({ rows, tokens }: Ranked) => {
  const best = Math.max(...rows.map(({ score }) => score), Number.EPSILON)
  return (
    <figure class="ranked">
      <ol>
        {rows.map(({ from, score, text }) => (
          <li key={from}>
            <span class="score">{score.toFixed(3)}</span>
            <span class="text">{text}</span>
            <span class="bar" style={{ inlineSize: `${Math.max(0, (score / best) * 100)}%` }} />
            <span class="quiet from">was {from + 1}</span>
          </li>
        ))}
      </ol>
      <figcaption class="quiet">
        Higher is better, in the model’s own range
        {tokens === undefined ? "" : `; ${counted(tokens, "token")}`}
      </figcaption>
    </figure>
  )
}

export const RerankTry = () => {
  const now = ranking.now.value
  const documents = documentsOf(lines.value)
  return (
    <Try
      capability="rerank"
      now={now}
      action="Rerank"
      onSubmit={rank}
      onStop={ranking.stop}
      missing={documents.length === 0 ? "There is no document yet." : undefined}
      snippet={rerankSnippet(location.origin, { model: modelOf("rerank"), query: query.value, documents })}
      fields={
        <>
          <ModelField capability="rerank" />
          <TextField
            label="Question"
            rows={1}
            enterSends
            value={query.value}
            onValue={(text) => (query.value = text)}
          />
          <TextField
            label="Documents"
            rows={5}
            hint="One a line."
            value={lines.value}
            onValue={(text) => (lines.value = text)}
          />
        </>
      }
    >
      {now.value !== undefined && <Result {...now.value} />}
    </Try>
  )
}
