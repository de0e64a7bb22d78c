/** A question and its answer: sentences, evidence, and the trace. */
import { useLayoutEffect, useRef } from "preact/hooks"
import { collectionSize } from "../documents/collections.tsx"
import { askAgain, type QuestionState, stopQuestion, willRetry } from "../questions/questions.ts"
import { StageTimes, TraceSection } from "../trace/TraceSection.tsx"
import { Button, LinkButton } from "../ui/Button.tsx"
import { pluralize } from "../ui/format.ts"
import { CheckedFigures, EvidenceList } from "./EvidenceList.tsx"
import { Sentences } from "./Sentences.tsx"

interface Props {
  readonly question: QuestionState
}

const Failed = ({ question }: Props) => (
  <div class="failed" role="alert">
    <p>
      {question.error?.message}
      {willRetry(question) && " Your question will be sent again automatically."}
    </p>
    <Button onClick={() => askAgain(question)}>Ask again</Button>
  </div>
)

const Progress = ({ question }: Props) => (
  <>
    <div class="loading-bar" />
    <p class="waiting quiet">
      {question.stages.length === 0
        ? "Searching passages…"
        : question.sentences.length === 0
          ? "Reading the best passages…"
          : "Writing the answer…"}
      <LinkButton onClick={() => stopQuestion(question)}>Stop</LinkButton>
    </p>
  </>
)

const reasonOf = ({ filterText, passages }: QuestionState): string => {
  if (passages.length > 0) return "No sure answer. The closest passages are below."
  if (filterText !== undefined) return `Nothing matches your filter: ${filterText}.`
  return (collectionSize.value.passages ?? 0) > 0 ? "No passage matches." : "There are no documents yet."
}

const NoAnswer = ({ question }: Props) => (
  <div class="no-answer">
    <p class="answer">{question.answer?.answer}</p>
    <p>
      {reasonOf(question)} Try the words that your documents use, or <a href="#documents">add a document</a>{" "}
      that covers it.
    </p>
  </div>
)

export const AnswerView = ({ question }: Props) => {
  const { answer, citations, passages, state } = question
  const title = useRef<HTMLHeadingElement>(null)
  // The next press of Tab goes to the first citation.
  useLayoutEffect(() => title.current?.focus({ preventScroll: true }), [])
  return (
    <article class="result" data-state={state}>
      <h1 ref={title} tabIndex={-1}>
        {question.question}
      </h1>
      {question.filterText !== undefined && (
        <p class="quiet filter-text">Searched in {question.filterText}</p>
      )}
      {question.error !== undefined && <Failed question={question} />}
      {answer?.found === false ? <NoAnswer question={question} /> : <Sentences question={question} />}
      {state === "asking" && <Progress question={question} />}
      {answer !== undefined && answer.dropped > 0 && (
        <p class="quiet">{pluralize(answer.dropped, "sentence")} left out: quote not found in the source.</p>
      )}
      <StageTimes stages={question.stages} cost={answer?.cost} />
      {citations.length > 0 && <EvidenceList question={question} />}
      <CheckedFigures question={question} />
      {passages.length > 0 && <TraceSection passages={passages} trace={answer?.trace} />}
    </article>
  )
}
