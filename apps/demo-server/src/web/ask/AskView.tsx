/** The view of a question, its answer, and earlier questions. */
import { CollectionChoice } from "../documents/collections.tsx"
import { questionHref } from "../page/route.ts"
import { current, questions, type QuestionState } from "../questions/questions.ts"
import { AnswerView } from "./AnswerView.tsx"
import { FilterPanel, QuestionBox } from "./QuestionForm.tsx"
import { Welcome } from "./Welcome.tsx"

const outcomeOf = ({ answer, state }: QuestionState): string => {
  if (state === "failed") return "failed"
  if (answer === undefined) return "asking"
  return answer.found ? `${answer.citations.length} cited` : "no answer"
}

const History = () => {
  const earlier = questions.value.filter((each) => each !== current.value)
  if (earlier.length === 0) return null
  return (
    <section class="history" aria-labelledby="history-title">
      <h2 id="history-title">Earlier questions</h2>
      <ul>
        {earlier.map((each) => (
          <li key={`${each.collection} ${each.question}`}>
            <a href={questionHref(each.question, each.collection)}>{each.question}</a>
            <span class="quiet">{outcomeOf(each)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export const AskView = () => {
  const now = current.value
  const form = (
    <>
      <QuestionBox />
      <div class="question-options">
        <FilterPanel />
        <CollectionChoice />
      </div>
    </>
  )
  if (now === undefined)
    return (
      <Welcome form={form}>
        <History />
      </Welcome>
    )
  return (
    <div class="asking">
      {form}
      <AnswerView question={now} key={`${now.collection} ${now.question}`} />
      <History />
    </div>
  )
}
